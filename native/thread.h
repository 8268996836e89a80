// One struct per thread, in heaptide's own memory, found through one initial-exec TLS pointer.
// A struct outlives its thread: frees from the last key destructors still find it; a new thread takes over the
// struct of one that is gone, so memory is bounded by the most threads alive at once.
#ifndef HT_THREAD_H
#define HT_THREAD_H

#include "count.h"
#include "lock.h"
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
  site_id site;
  uint8_t operation; // enum deferred_operation
};
enum deferred_operation { DEFERRED_ALLOC, DEFERRED_FREE, DEFERRED_MAP, DEFERRED_UNMAP };
#define DEFERRED_MAX 64 // beyond it calls are counted as unseen

struct thread {
  // Written by the thread itself, read by others (peak, sampler, report).
  uint8_t in_hook;      // 1: inside heaptide; signal handlers then defer their records
  uint8_t suspended;    // 1: calls are passed through (heaptide's own calls; Python's allocator underneath its hooks)
  uint8_t state;        // enum thread_state, LOCK_RANK_THREADS
  uint8_t deferred_used;
  uint32_t tid;
  uintptr_t last_block; // the block that its last allocation-family call returned; 0: none (temporaries)
  int64_t sample_budget;// bytes and calls until the clock is looked at (sampler.c)
  struct count count;   // counters, see count.h
  struct stack_memo memo;
  uintptr_t stack_low, stack_high; // [low, high) of its own stack; 0, 0: unknown
  uint64_t allocations;
  char name[16]; // the kernel's, taken when the thread ends or a report is written
  bool is_main;
  struct thread *next;  // in the list of all structs, never unlinked
  struct deferred_call deferred[DEFERRED_MAX];
};

extern __thread struct thread *thread_tls __attribute__((tls_model("initial-exec")));
extern bool thread_many; // true once a second thread has been seen; never goes back except in a fork child
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
void thread_exiting(struct thread *thread);

// Around fork, and around parking the others: takes every lock in rank order, drops them.
void thread_locks_take(void);
void thread_locks_drop(void);
// In the fork child: only this thread is left, everything recorded so far belongs to the parent.
void thread_fork_child(void);

#endif
