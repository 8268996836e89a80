// One struct per thread, in heaptide's own memory, found through one initial-exec TLS pointer.
// A struct outlives its thread: frees from the last key destructors still find it; a new thread takes over the
// struct of one that is gone, so memory is bounded by the most threads alive at once.
#ifndef HT_THREAD_H
#define HT_THREAD_H

#include "count.h"
#include "stack_memo.h"
#include "words.h"

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
  site_id site;
  int argument;      // protection of a mapping
  uint8_t operation; // enum deferred_operation
};
enum deferred_operation { DEFERRED_ALLOC, DEFERRED_FREE, DEFERRED_MAP, DEFERRED_UNMAP, DEFERRED_CALL };
#define DEFERRED_MAX 64 // beyond it calls are counted as unseen

struct thread {
  // Written by the thread itself, read by others (peak, sampler, report).
  uint8_t in_hook;   // inside heaptide: signal handlers then defer their records
  uint8_t suspended; // calls are passed through (heaptide's own; Python's allocator underneath its hooks)
  uint8_t state;     // enum thread_state, LOCK_RANK_THREADS
  uint8_t deferred_used;
  uint32_t tid;
  uintptr_t last_block;                       // what its last allocation-family call returned; 0: none (temporaries)
  int64_t sample_budget, sample_budget_given; // bytes until the clock is looked at (sampler.h)
  uint64_t sample_tsc;                        // when it was looked at last
  struct stack_memo memo;
  struct count count;
  char name[16]; // the kernel's, taken when the thread ends or a report is written
  bool is_main;
  struct thread *next; // in the list of all structs, never unlinked
  struct deferred_call deferred[DEFERRED_MAX];
};

// True while a hook must not record: heaptide is at work in this thread already.
// Two loads: one of both bytes would have to wait until the last store to either has left the store buffer.
HT_INLINE bool thread_busy(const struct thread *thread) {
  uint8_t in_hook = *(const volatile uint8_t *)&thread->in_hook;
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

// In the trampoline of a new thread: its stack's bounds are known there.
void thread_register(uintptr_t stack_low, uintptr_t stack_high);
// While heaptide itself calls into the C library in a thread without a struct: its calls are not recorded.
void thread_entering_set(bool entering);
// From the thread's key destructor: its struct may be taken over once the thread is gone.
void thread_exiting(struct thread *thread);
// Allocations of a thread so far.
uint64_t thread_allocations(const struct thread *thread);
// A thread that is being created: from now on counters are kept per thread.
void thread_many_begin(void);

// Around fork, and around parking the others: takes every lock in rank order, drops them.
void thread_locks_take(void);
void thread_locks_drop(void);
// In the fork child: only this thread is left, everything recorded so far belongs to the parent.
void thread_fork_child(void);

#endif
