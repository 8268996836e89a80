#include "thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "alt_stack.h"
#include "ended_threads.h"
#include "live.h"
#include "lock.h"
#include "modules.h"
#include "owner.h"
#include "ranges.h"
#include "rules.h"
#include "sys.h"

__thread struct thread *thread_tls __attribute__((tls_model("initial-exec")));
static __thread bool entering __attribute__((tls_model("initial-exec"))); // a signal handler in thread_enter
uint64_t thread_unseen_calls;

HT_KEPT static bool recording;
HT_KEPT static struct thread *threads;                          // all structs ever made
static struct lock threads_lock = LOCK_INIT(LOCK_RANK_THREADS); // guards the list's head and every `state`

// Named in <libc-symbols.h> of glibc, exported for the garbage collectors of the world: where the main thread's
// stack began.
extern void *__libc_stack_end;

void thread_recording_set(bool on) { __atomic_store_n(&recording, on, __ATOMIC_RELEASE); }
bool thread_recording(void) { return __atomic_load_n(&recording, __ATOMIC_ACQUIRE); }

struct lock *thread_list_lock(void) {
  return &threads_lock;
}

void thread_each(void (*visit)(struct thread *, void *), void *context) {
  for (struct thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
    visit(thread, context);
}

static void add_alive(struct thread *thread, void *count) { *(uint32_t *)count += thread->state == THREAD_ALIVE; }

uint32_t thread_count_alive(void) {
  uint32_t count = 0;
  thread_each(add_alive, &count);
  return count;
}

// ---- structs

// Signal 0 asks the kernel whether the thread is there. A refusal counts as "it is".
static bool tid_gone(uint32_t tid) { return sys_call3(SYS_tgkill, sys_pid(), tid, 0) == -ESRCH; }

bool thread_is_gone(const struct thread *thread) { return thread->first_name[0] && tid_gone(thread->tid); }

// A struct whose thread is gone. `tid` is the caller's: whoever else has it must be gone.
static struct thread *reusable_locked(uint32_t tid) {
  for (struct thread *thread = threads; thread; thread = thread->next) {
    if (thread->state == THREAD_FREE) return thread;
    if (thread->state == THREAD_EXITING && (thread->tid == tid || tid_gone(thread->tid))) return thread;
  }
  return NULL;
}

// The counters go on with the next thread (shares of ended threads belong to the totals); its own begin here.
static void struct_part_locked(struct thread *thread) {
  struct ended_thread ended = {.tid = thread->tid};
  ended.allocations = thread_allocations(thread);
  ended.net_bytes = thread_net_bytes(thread);
  memcpy(ended.name, thread->name, sizeof ended.name);
  ended_threads_add_locked(&ended);
  thread->allocations_before += ended.allocations;
  thread->net_before += ended.net_bytes;
}

static struct thread *struct_take(uint32_t tid, uint32_t *owner) {
  lock_take(&threads_lock);
  struct thread *thread = reusable_locked(tid);
  if (thread) {
    struct_part_locked(thread);
  } else {
    char *memory = sys_map(ALT_STACK_BYTES + sizeof *thread);
    thread = memory ? (struct thread *)(memory + ALT_STACK_BYTES) : NULL;
    if (thread) {
      thread->next = threads;
      __atomic_store_n(&threads, thread, __ATOMIC_RELEASE);
    }
  }
  if (thread) {
    thread->state = THREAD_ALIVE;
    thread->tid = tid;
    *owner = owner_take_locked(tid);
  }
  lock_drop(&threads_lock);
  return thread;
}

static void struct_start(struct thread *thread, uint32_t owner, uintptr_t low, uintptr_t high) {
  stack_memo_own(&thread->memo, owner);
  thread->memo.stack_low = low;
  thread->memo.stack_high = high;
  thread->in_hook = thread->suspended = thread->deferred_used = thread->in_driver = thread->moving = 0;
  thread->last_block = 0;
  thread->name[0] = thread->first_name[0] = 0;
  thread->behalf = (struct behalf_chain){0};
}

// The main thread's stack ends at the top of its mapping; what lies above __libc_stack_end holds no return address.
static void main_stack(uintptr_t *low, uintptr_t *high) {
  struct rlimit limit;
  uintptr_t bytes = 1ul << 30; // unlimited: far more than any stack
  if (sys_call4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit) == 0 && limit.rlim_cur < bytes)
    bytes = limit.rlim_cur > 1 << 20 ? limit.rlim_cur : 1 << 20;
  *high = (uintptr_t)__libc_stack_end & ~7ul;
  *low = *high - bytes;
}

static struct thread *enter(uintptr_t low, uintptr_t high) {
  entering = true;
  uint32_t tid = (uint32_t)sys_tid();
  bool is_main = tid == (uint32_t)sys_pid();
  if (is_main) main_stack(&low, &high);
  uint32_t owner;
  struct thread *thread = struct_take(tid, &owner);
  if (thread) {
    struct_start(thread, owner, low, high);
    thread->is_main = is_main;
    if (!live_partial) alt_stack_set((char *)thread - ALT_STACK_BYTES); // it could not be taken back from here
    if (!is_main) thread_many_begin();
    thread_tls = thread;
  }
  entering = false;
  return thread;
}

// A thread that was there before heaptide ends without a word, and its name with it.
static void first_name_take(struct thread *thread) {
  char name[THREAD_NAME_BYTES];
  thread_name_own(name);
  memcpy(thread->first_name, name, sizeof thread->first_name);
  lock_take(&threads_lock);
  owner_named_locked(stack_memo_owner(&thread->memo), name);
  lock_drop(&threads_lock);
}

// A thread that was not started through pthread_create has no known bounds: every word of its stack is asked for.
HT_NOINLINE struct thread *thread_enter(void) {
  if (!thread_recording() || entering) return NULL;
  struct thread *thread = enter(0, 0);
  if (thread && !thread->is_main) first_name_take(thread);
  return thread;
}

void thread_register(uintptr_t low, uintptr_t high) {
  if (thread_recording() && !thread_tls && !entering) enter(low, high);
}

void thread_entering_set(bool on) { entering = on; }

void thread_call(struct thread *thread, const char name[THREAD_NAME_BYTES]) {
  lock_take(&threads_lock);
  memcpy(thread->name, name, sizeof thread->name);
  lock_drop(&threads_lock);
}

void thread_exiting(struct thread *thread) {
  if (!thread->name[0]) thread_name_own(thread->name);
  lock_take(&threads_lock);
  owner_ended_locked(stack_memo_owner(&thread->memo), thread->name);
  thread->state = THREAD_EXITING;
  lock_drop(&threads_lock);
}

uint64_t thread_allocations(const struct thread *thread) {
  uint64_t allocations = thread->count.front_allocations;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++)
    for (int class = 0; class < SIZE_CLASSES; class ++)
      allocations += thread->count.kinds[kind].sizes[class].allocations;
  return allocations - thread->allocations_before;
}

int64_t thread_net_bytes(const struct thread *thread) {
  return __atomic_load_n(&thread->count.shares[GAUGE_ALL].live_bytes, __ATOMIC_RELAXED) - thread->net_before;
}

void thread_many_begin(void) { __atomic_store_n(&count_shared.many_threads, true, __ATOMIC_SEQ_CST); }

// ---- attach and detach

static void thread_stop(struct thread *thread, void *unused) {
  (void)unused;
  thread->suspended = 1;
  if (!thread->in_hook) thread->in_hook = THREAD_STOPPED;
}

void threads_stop_all(void) {
  thread_recording_set(false);
  thread_each(thread_stop, NULL);
}

// What is needed while detached stands at the beginning.
_Static_assert(offsetof(struct thread, count) < 4096, "the first page");

static void thread_empty(struct thread *thread, void *unused) {
  (void)unused;
  uintptr_t start = (uintptr_t)thread + 4096;
  sys_call3(SYS_madvise, (long)start, (long)((uintptr_t)(thread + 1) - start), MADV_DONTNEED);
}

void threads_empty_all(void) { thread_each(thread_empty, NULL); }

static void thread_renew(struct thread *thread, void *unused) {
  (void)unused;
  uintptr_t low = thread->memo.stack_low, high = thread->memo.stack_high;
  memset(&thread->count, 0, sizeof thread->count);
  memset(&thread->memo, 0, sizeof thread->memo); // its arrays are gone
  thread->memo.stack_low = low;
  thread->memo.stack_high = high;
  thread->last_block = thread->allocations_before = 0;
  thread->net_before = 0;
  thread->is_main = thread->tid == (uint32_t)sys_pid();
  thread->sample_budget = thread->sample_budget_given = 0;
  thread->turned_bytes = 0;
  thread->deferred_used = thread->moving = 0;
  thread->behalf = (struct behalf_chain){0};
  if (tid_gone(thread->tid)) thread->state = THREAD_FREE; // while nobody heard of it
  __atomic_store_n(&thread->suspended, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&thread->in_hook, 0, __ATOMIC_RELEASE);
}

void threads_renew_all(void) { thread_each(thread_renew, NULL); }

static void thread_own(struct thread *thread, void *unused) {
  (void)unused;
  if (thread->state == THREAD_ALIVE) stack_memo_own(&thread->memo, owner_take_locked(thread->tid));
}

void threads_own_all(void) {
  lock_take(&threads_lock);
  thread_each(thread_own, NULL);
  lock_drop(&threads_lock);
}

static void thread_memory_visit(struct thread *thread, void *context) {
  void (*visit)(uintptr_t, uintptr_t) = *(void (**)(uintptr_t, uintptr_t))context;
  visit((uintptr_t)thread - ALT_STACK_BYTES, ((uintptr_t)(thread + 1) + 4095) & ~4095ul);
}

void threads_memory_each(void (*visit)(uintptr_t start, uintptr_t end)) { thread_each(thread_memory_visit, &visit); }

// ---- all locks at once

// Their owners lie above this file.
struct lock *sampler_lock(void);
struct lock *mark_lock(void);
struct lock *hook_thread_lock(void);

// Of the front end for GPUs, which native does not know: here, so that fork and report can take it.
static struct lock front_lock = LOCK_INIT(LOCK_RANK_FRONT);
struct lock *thread_front_lock(void) {
  return &front_lock;
}

static struct lock *lock_by_rank(int rank) {
  switch (rank) {
  case LOCK_RANK_STARTS:
    return hook_thread_lock();
  case LOCK_RANK_SAMPLE:
    return sampler_lock();
  case LOCK_RANK_MARKS:
    return mark_lock();
  case LOCK_RANK_FRONT:
    return &front_lock;
  case LOCK_RANK_RANGES:
    return range_lock();
  case LOCK_RANK_THREADS:
    return &threads_lock;
  case LOCK_RANK_PEAK:
    return count_lock();
  case LOCK_RANK_SITES:
    return site_lock();
  case LOCK_RANK_RULES:
    return rules_lock_get();
  case LOCK_RANK_MODULES:
    return module_lock();
  case LOCK_RANK_BIG:
    return live_lock();
  case LOCK_RANK_SYS:
    return sys_lock();
  default:
    return NULL;
  }
}

void thread_locks_take(void) {
  for (int rank = 0; rank < LOCK_RANK_COUNT; rank++)
    if (lock_by_rank(rank)) lock_take(lock_by_rank(rank));
}

void thread_locks_drop(void) {
  for (int rank = LOCK_RANK_COUNT; rank-- > 0;)
    if (lock_by_rank(rank)) lock_drop(lock_by_rank(rank));
}

void thread_locks_reset(void) {
  for (int rank = 0; rank < LOCK_RANK_COUNT; rank++)
    if (lock_by_rank(rank)) lock_by_rank(rank)->state = 0;
}

// ---- fork

void thread_fork_child(void) {
  struct thread *self = thread_tls;
  ended_threads_forget();
  owners_fork_child();
  for (struct thread *thread = threads; thread; thread = thread->next) {
    thread->allocations_before = 0; // count_fork_child has cleared the counters
    thread->net_before = 0;
    thread->heap_sample_left = 0; // chances of its own
    thread->heap_sample_random = 0;
    if (thread != self) thread->state = THREAD_FREE;
  }
  if (!self) return;
  self->tid = (uint32_t)sys_tid();
  self->is_main = true;
  self->last_block = 0;
  stack_memo_own(&self->memo, owner_take_locked(self->tid));
}
