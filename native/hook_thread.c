// Thread births and deaths. A new thread starts in a trampoline, where its stack's bounds are known and its struct
// is made before it can allocate.
#include "hook_thread.h"

#include <limits.h>
#include <pthread.h>

#include "core.h"
#include "lock.h"
#include "real.h"
#include "sys.h"
#include "thread_name.h"

struct start {
  void *(*routine)(void *);
  void *argument;
  struct start *next_free;
  char *name; // THREAD_NAME_BYTES of its own
  struct behalf_chain behalf;
};

// Own memory, which the leak scan takes for roots by hook_thread_starts_each: what a half-born thread was given.
#define STARTS_A_CHUNK 255
struct start_chunk {
  struct start_chunk *next;
  struct start starts[STARTS_A_CHUNK];
  char names[STARTS_A_CHUNK][THREAD_NAME_BYTES]; // no roots
};
HT_KEPT static struct start_chunk *start_chunks; // a detach keeps some
static struct start *starts_free;
static struct lock starts_lock = LOCK_INIT(LOCK_RANK_STARTS);
static pthread_key_t exit_key;
static bool exit_key_made;

static void starts_refill_locked(void) {
  struct start_chunk *chunk = sys_map(sizeof *chunk);
  if (!chunk) return;
  chunk->next = start_chunks;
  start_chunks = chunk;
  for (int i = 0; i < STARTS_A_CHUNK; i++) {
    chunk->starts[i].name = chunk->names[i];
    chunk->starts[i].next_free = starts_free;
    starts_free = &chunk->starts[i];
  }
}

void hook_thread_starts_each(void (*visit)(uintptr_t, uintptr_t, void *), void *context) {
  for (struct start_chunk *chunk = start_chunks; chunk; chunk = chunk->next)
    visit((uintptr_t)chunk->starts, (uintptr_t)(chunk->starts + STARTS_A_CHUNK), context);
}

static struct start *start_take(void *(*routine)(void *), void *argument) {
  lock_take(&starts_lock);
  if (!starts_free) starts_refill_locked();
  struct start *start = starts_free;
  if (start) starts_free = start->next_free;
  lock_drop(&starts_lock);
  if (start) *start = (struct start){.routine = routine, .argument = argument, .name = start->name};
  return start;
}

static void start_give_back(struct start *start) {
  lock_take(&starts_lock);
  start->next_free = starts_free;
  start->routine = NULL;
  start->argument = NULL;
  starts_free = start;
  lock_drop(&starts_lock);
}

// Key destructors run in rounds while values are set: setting it again waits for the last round.
static void thread_ends(void *rounds) {
  struct thread *thread = thread_tls;
  if (!thread) return;
  uintptr_t round = (uintptr_t)rounds;
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
    pthread_setspecific(exit_key, (void *)(round + 1));
  else
    thread_exiting(thread);
}

// ---- detach: between its clone and the trampoline a thread is in the C library's code and knows nothing but its start

static bool births_settle(struct start_chunk *chunk) {
  bool waited_for = false;
  for (struct start *start = chunk->starts; start < chunk->starts + STARTS_A_CHUNK; start++) {
    if (!start->routine) continue;
    waited_for = true;
    start->name[0] = '\0';
    start->behalf = (struct behalf_chain){0};
  }
  return waited_for;
}

void hook_thread_keep_births(void) {
  lock_take(&starts_lock);
  starts_free = NULL;
  for (struct start_chunk **at = &start_chunks; *at;)
    if (births_settle(*at))
      at = &(*at)->next;
    else
      *at = (*at)->next;
  lock_drop(&starts_lock);
}

bool hook_thread_is_kept(uintptr_t start) {
  for (const struct start_chunk *chunk = start_chunks; chunk; chunk = chunk->next)
    if ((uintptr_t)chunk == start) return true;
  return false;
}

void hook_thread_kept_each(void (*visit)(uintptr_t start, uintptr_t end)) {
  for (struct start_chunk *chunk = start_chunks; chunk; chunk = chunk->next)
    visit((uintptr_t)chunk, (uintptr_t)(chunk + 1));
}

// ----

struct lock *hook_thread_lock(void) {
  return &starts_lock;
}

void hook_thread_init(void) { exit_key_made = pthread_key_create(&exit_key, thread_ends) == 0; }

void hook_thread_stop(void) {
  if (exit_key_made) pthread_key_delete(exit_key);
  exit_key_made = false;
}

// pthread_getattr_np allocates: its blocks are heaptide's doing and not recorded (thread_tls is not set yet).
static void register_self(void) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t bytes = 0;
  if (!thread_recording()) return;
  thread_entering_set(true);
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  thread_entering_set(false);
  thread_register((uintptr_t)low, (uintptr_t)low + bytes);
  if (exit_key_made) pthread_setspecific(exit_key, (void *)1);
}

static void *trampoline(void *start_argument) {
  struct start start = *(struct start *)start_argument;
  register_self();
  if (thread_tls && start.name[0]) thread_call(thread_tls, start.name);
  if (thread_tls) thread_tls->behalf = start.behalf;
  start_give_back(start_argument);
  return start.routine(start.argument);
}

HT_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
                             void *argument) {
  real_ready();
  struct start *start = thread_recording() ? start_take(routine, argument) : NULL;
  if (!start) return real.pthread_create(id, attributes, routine, argument);
  thread_many_begin();
  thread_name_of_new(start->name);
  behalf_of_new(&start->behalf);
  int error = real.pthread_create(id, attributes, trampoline, start);
  if (error) start_give_back(start);
  return error;
}
