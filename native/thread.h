// One struct per thread, in heaptide's own memory, found through one initial-exec TLS pointer.
// A struct outlives its thread: frees from the last key destructors still find it; a new thread takes over the
// struct of one that is gone, so memory is bounded by the most threads alive at once.
#ifndef HT_THREAD_H
#define HT_THREAD_H

#include "behalf.h"
#include "count.h"
#include "stack_memo.h"
#include "thread_name.h"
#include "words.h"

// In place of the frame of a hook that it is in.
#define THREAD_COPIED 1  // in a copy of the process
#define THREAD_STOPPED 2 // it was outside of any when recording ended, and begins none any more
#define THREAD_MARK_MOST THREAD_STOPPED

struct lock;

enum thread_state {
  THREAD_FREE,
  THREAD_ALIVE,
  THREAD_EXITING, // its key destructor ran; reused once the kernel says that the tid is gone
};

// What a signal handler did to memory while its thread was inside a hook; done when that hook ends.
struct deferred_call {
  uintptr_t start;
  size_t size_bytes;
  void (*call)(int argument); // DEFERRED_CALL: of heaptide's own handlers
  int argument;               // protection of a mapping
  bool is_block;              // DEFERRED_MAP: not a file's or shared pages
  uint8_t operation;          // enum deferred_operation
};
enum deferred_operation {
  DEFERRED_ALLOC,
  DEFERRED_ALLOC_FOREIGN,
  DEFERRED_FREE,
  DEFERRED_MAP,
  DEFERRED_UNMAP,
  DEFERRED_CALL
};
#define DEFERRED_MAX 64 // beyond it calls are counted as unseen

struct thread {
  // Written by the thread itself, read by others (peak, sampler, report).
  // Inside heaptide, and signal handlers defer their records: the frame that went in (core.h); or one of the words
  // above.
  uintptr_t in_hook;
  uint8_t suspended; // calls are passed through (heaptide's own; Python's allocator underneath its hooks)
  uint8_t state;     // enum thread_state, LOCK_RANK_THREADS
  uint8_t deferred_used;
  uint8_t in_driver; // inside a call of a GPU runtime: what it maps is the driver's address space, not a block
  uint32_t tid;
  uintptr_t last_block;                       // what its last allocation-family call returned; 0: none (temporaries)
  int64_t sample_budget, sample_budget_given; // bytes until the clock is looked at (sampler.h)
  uint64_t turned_bytes;                      // of budgets that were used up before
  uint64_t sample_tsc;                        // when it was looked at last
  int64_t heap_sample_left;                   // bytes to its next sample (heap_sample.h)
  struct thread *next;                        // in the list of all structs, never unlinked
  struct stack_memo memo;
  struct count count;
  uintptr_t passed_block;                    // what malloc returned last while calls were passed through
  uint64_t allocations_before;               // of the threads that had this struct before
  int64_t net_before;                        // and what they had allocated beyond what they freed, in bytes
  char name[THREAD_NAME_BYTES];              // a front end's; without one the kernel's, taken when the thread ends
  char first_name[THREAD_NAME_KERNEL_BYTES]; // the kernel's at its first call, of one whose end nobody will tell of
  struct behalf_chain behalf;
  bool is_main;
  uint8_t moving;              // its realloc is under way: the old block is out of the live map, the new one not yet in
  uint64_t heap_sample_random; // 0: none drawn yet
  struct deferred_call deferred[DEFERRED_MAX];
};

// What its budgets have paid for so far: at least all the bytes that it ever allocated. Never falls; of another thread
// it may be off by a budget for a moment.
HT_INLINE uint64_t thread_turned_bytes(const struct thread *thread) {
  int64_t since_bytes = __atomic_load_n(&thread->sample_budget_given, __ATOMIC_RELAXED) -
                        __atomic_load_n(&thread->sample_budget, __ATOMIC_RELAXED);
  return __atomic_load_n(&thread->turned_bytes, __ATOMIC_RELAXED) + (uint64_t)since_bytes;
}

// True while a hook must not record: heaptide is at work in this thread already.
// Two loads: one of both bytes would have to wait until the last store to either has left the store buffer.
HT_INLINE bool thread_busy(const struct thread *thread) {
  uintptr_t in_hook = *(const volatile uintptr_t *)&thread->in_hook;
  uint8_t suspended = *(const volatile uint8_t *)&thread->suspended;
  return in_hook | suspended;
}

extern __thread struct thread *thread_tls __attribute__((tls_model("initial-exec")));
extern uint64_t thread_unseen_calls;

struct thread *thread_enter(void);

// The calling thread's struct; NULL: recording is off, or no memory, or the thread is being set up right now.
HT_INLINE struct thread *thread_self(void) {
  struct thread *thread = thread_tls;
  return likely(thread != NULL) ? thread : thread_enter();
}

// Starts recording (init) and stops it for good (inert).
void thread_recording_set(bool on);
bool thread_recording(void);

// Calls `visit` for every struct whose thread lives or lived and whose counters may hold something.
void thread_each(void (*visit)(struct thread *thread, void *context), void *context);
uint32_t thread_count_alive(void);
// Of one whose end nobody tells of: whether it has come.
bool thread_is_gone(const struct thread *thread);
// Guards who has which struct, and the list of those that have ended.
struct lock *thread_list_lock(void);

// In the trampoline of a new thread: its stack's bounds are known there.
void thread_register(uintptr_t stack_low, uintptr_t stack_high);
// While heaptide itself calls into the C library in a thread without a struct: its calls are not recorded.
void thread_entering_set(bool entering);
// What a front end calls it. Where threads run and others may read it.
void thread_call(struct thread *thread, const char name[THREAD_NAME_BYTES]);
// From the thread's key destructor: its struct may be taken over once the thread is gone.
void thread_exiting(struct thread *thread);
// Allocations of a struct's present thread so far.
uint64_t thread_allocations(const struct thread *thread);
// What it allocated less what it freed, whoever had allocated that: negative where it frees what others made.
int64_t thread_net_bytes(const struct thread *thread);
// A thread that is being created: from now on counters are kept per thread.
void thread_many_begin(void);

// Guards the tables of the front end for GPUs. Taken inside a hook.
struct lock *thread_front_lock(void);

// Detach: no thread records any more; whoever is still on its way out of a hook passes through. The world is parked.
void threads_stop_all(void);
// After that: what they hold besides goes back to the kernel.
void threads_empty_all(void);
// Attach: all structs are as new, for the same threads. Nobody is in a hook.
void threads_renew_all(void);
// Attach again: who the stacks are of, by the new session.
void threads_own_all(void);
// The structs' memory, which outlives a detach: threads know where theirs is.
void threads_memory_each(void (*visit)(uintptr_t start, uintptr_t end));

// Around fork, and around parking the others: takes every lock in rank order, drops them.
void thread_locks_take(void);
void thread_locks_drop(void);
// In a copy of the process: whoever held them is not there.
void thread_locks_reset(void);
// In the fork child: only this thread is left, everything recorded so far belongs to the parent.
void thread_fork_child(void);

#endif
