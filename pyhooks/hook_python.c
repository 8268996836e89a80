#include "hook_python.h"

#include <string.h>

#include "../native/live.h"
#include "arenas.h"
#include "detour.h"
#include "interpreter_life.h"
#include "object_count.h"
#include "object_map.h"
#include "table_lock.h"

// One for each time that the hooks were put in: an allocator that was saved and put back by Python (it does so for
// the RAW domain during start-up) still finds the one below it.
struct domain {
  struct python_allocator below;
  bool is_raw;
};
#define INSTALLS_MAX 8
static struct domain domains[INSTALLS_MAX][PYTHON_DOMAINS];
static unsigned installs;

bool hook_python_ended;
uint32_t detours = DETOUR_START;

// ---- what is below, with native's hooks passing through: malloc and mmap there serve the block that is recorded here

HT_INLINE void *below_malloc(struct thread *thread, const struct domain *domain, size_t bytes) {
  thread->suspended = 1;
  void *block = domain->below.malloc(domain->below.context, bytes);
  thread->suspended = 0;
  return block;
}

HT_INLINE void *below_calloc(struct thread *thread, const struct domain *domain, size_t count, size_t bytes) {
  thread->suspended = 1;
  void *block = domain->below.calloc(domain->below.context, count, bytes);
  thread->suspended = 0;
  return block;
}

HT_INLINE void *below_realloc(struct thread *thread, const struct domain *domain, void *old, size_t bytes) {
  thread->suspended = 1;
  void *block = domain->below.realloc(domain->below.context, old, bytes);
  thread->suspended = 0;
  return block;
}

// ---- recording

static HT_NOINLINE void record_big(struct thread *thread, void *state, void *block, size_t size_bytes) {
  line_id line = line_running(state);
  if (line.value)
    ht_alloc_at(thread, block, size_bytes, line_table[line.value].site);
  else
    thread_unseen_calls++;
}

HT_INLINE void record_small(struct thread *thread, void *state, void *block, size_t size_bytes) {
  bool refused = false;
  uint32_t pair = pair_running(state, size_bytes);
  uint32_t stale = pair ? object_map_put((uintptr_t)block, pair, size_bytes, &refused) : 0;
  if (unlikely(!pair || refused)) {
    record_big(thread, state, block, size_bytes);
    return;
  }
  ht_called(thread, (uintptr_t)block, size_bytes);
  if (unlikely(stale)) pair_free(&thread->count, stale, false);
  pair_alloc(&thread->count, pair);
}

HT_INLINE void record(struct thread *thread, const struct domain *domain, void *state, void *block, size_t size_bytes) {
  if (unlikely(hook_python_ended)) return;
  tables_enter(thread);
  if (domain->is_raw || unlikely(size_bytes > OBJECT_BYTES_MAX))
    record_big(thread, state, block, size_bytes);
  else
    record_small(thread, state, block, size_bytes);
  tables_leave(thread);
}

HT_INLINE void forget(struct thread *thread, const struct domain *domain, void *block) {
  uint32_t pair = 0;
  if (!domain->is_raw) {
    tables_enter(thread);
    pair = object_map_take((uintptr_t)block);
    if (likely(pair && !hook_python_ended)) {
      pair_free(&thread->count, pair, thread->last_block == (uintptr_t)block);
      ht_called(thread, 0, 0);
    }
    tables_leave(thread);
  }
  if (unlikely(!pair)) ht_free(thread, block);
}

// ---- realloc: the old record is taken out first and put back when the call failed

struct taken {
  uint32_t pair;      // 0: not a small block
  struct block block; // site 0: not a big one either
};

static struct taken take(struct thread *thread, const struct domain *domain, void *old) {
  struct taken taken = {0};
  if (!old) return taken;
  tables_enter(thread);
  if (!domain->is_raw) taken.pair = object_map_take((uintptr_t)old);
  if (!taken.pair && !live_take((uintptr_t)old, &taken.block)) taken.block.site.value = 0;
  tables_leave(thread);
  return taken;
}

static void put_back(struct thread *thread, const struct taken *taken, void *old) {
  bool refused;
  tables_enter(thread);
  if (taken->pair)
    object_map_put((uintptr_t)old, taken->pair, pair_table[taken->pair].size_bytes, &refused);
  else if (taken->block.site.value)
    live_put((uintptr_t)old, taken->block.size_bytes, taken->block.site);
  tables_leave(thread);
}

static void count_taken(struct thread *thread, const struct taken *taken) {
  if (hook_python_ended) return;
  site_id site = taken->block.site;
  tables_enter(thread);
  if (taken->pair)
    pair_free(&thread->count, taken->pair, false);
  else if (site.value && !site_is_inherited(site))
    count_free(&thread->count, site, site_at(site)->kind, taken->block.size_bytes, false);
  tables_leave(thread);
}

// ---- the hooks

// The thread whose calls are to be recorded; NULL: pass through. A RAW call without the GIL is native code's own.
HT_INLINE struct thread *recorded_thread(const struct domain *domain, void **state) {
  struct thread *thread = thread_self();
  if (unlikely(!thread || thread_busy(thread))) return NULL;
  if (unlikely(interpreter_phase == INTERPRETER_STARTING)) interpreter_look();
  *state = domain->is_raw ? python_thread_state() : python.thread_state();
  if (domain->is_raw && !*state) return NULL;
  if (*state && unlikely(python_interpreter_is_other(*state))) table_lock_begin(thread);
  if (unlikely(interpreter_phase == INTERPRETER_PREPARING)) *state = NULL;
  return thread;
}

static void *hook_malloc(void *context, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.malloc(domain->below.context, bytes);
  void *block = below_malloc(thread, domain, bytes);
  if (likely(block != NULL)) record(thread, domain, state, block, bytes);
  return block;
}

static void *hook_calloc(void *context, size_t count, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.calloc(domain->below.context, count, bytes);
  void *block = below_calloc(thread, domain, count, bytes);
  if (likely(block != NULL)) record(thread, domain, state, block, count * bytes);
  return block;
}

static void *hook_realloc(void *context, void *old, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.realloc(domain->below.context, old, bytes);
  struct taken taken = take(thread, domain, old);
  void *block = below_realloc(thread, domain, old, bytes);
  if (unlikely(!block)) return put_back(thread, &taken, old), NULL;
  count_taken(thread, &taken);
  record(thread, domain, state, block, bytes);
  return block;
}

static void hook_free(void *context, void *block) {
  const struct domain *domain = context;
  struct thread *thread = thread_self();
  if (unlikely(!thread || thread_busy(thread) || !block)) {
    domain->below.free(domain->below.context, block);
    return;
  }
  forget(thread, domain, block);
  thread->suspended = 1;
  domain->below.free(domain->below.context, block);
  thread->suspended = 0;
}

// ---- the short way: small objects of the one interpreter, which runs Python code, while nothing is out of the
// ordinary. What a hook above does then and no more; compiled for each layout of frames.

// NULL: the long way.
HT_INLINE struct thread *thread_ordinary(void) {
  struct thread *thread = thread_tls;
  return likely(thread && !thread_busy(thread) && !detour_needed()) ? thread : NULL;
}

static HT_NOINLINE void record_unusual(struct thread *thread, void *state, void *block, size_t size_bytes) {
  record_small(thread, state, block, size_bytes);
}

HT_INLINE void *malloc_shortly(const struct frame_layout *layout, void *context, size_t bytes) {
  const struct domain *domain = context;
  struct thread *thread = thread_ordinary();
  void *state = thread && bytes <= OBJECT_BYTES_MAX ? python.thread_state() : NULL;
  if (unlikely(!state || python_interpreter_is_other(state))) return hook_malloc(context, bytes);
  void *block = below_malloc(thread, domain, bytes);
  if (unlikely(!block)) return NULL;
  ht_hook_begin(thread);
  const char *frame = frame_innermost(layout, state);
  uint32_t pair = likely(frame != NULL) ? key_cached(frame_read(layout, frame), bytes) : 0;
  if (likely(pair && object_map_put_quickly((uintptr_t)block, pair))) {
    ht_called(thread, (uintptr_t)block, bytes);
    pair_alloc(&thread->count, pair);
  } else {
    record_unusual(thread, state, block, bytes);
  }
  ht_hook_end(thread);
  return block;
}

static void free_shortly(void *context, void *block) {
  const struct domain *domain = context;
  struct thread *thread = thread_ordinary();
  if (unlikely(!thread || !block)) return hook_free(context, block);
  ht_hook_begin(thread);
  uint32_t pair = object_map_take((uintptr_t)block);
  if (likely(pair)) {
    pair_free(&thread->count, pair, thread->last_block == (uintptr_t)block);
    ht_called(thread, 0, 0);
  }
  ht_hook_end(thread);
  if (unlikely(!pair)) ht_free(thread, block);
  thread->suspended = 1;
  domain->below.free(domain->below.context, block);
  thread->suspended = 0;
}

#define SHORT_WAY(name, layout)                                                                                        \
  static void *malloc_##name(void *context, size_t bytes) { return malloc_shortly(layout, context, bytes); }
SHORT_WAY(9, &frame_layout_9)
SHORT_WAY(10, &frame_layout_10)
SHORT_WAY(11, &frame_layout_11)
SHORT_WAY(12, &frame_layout_12)
SHORT_WAY(13, &frame_layout_13)
SHORT_WAY(other, &frame_layout)

static const struct {
  const struct frame_layout *layout;
  void *(*malloc)(void *context, size_t bytes);
} short_ways[] = {{&frame_layout_9, malloc_9},
                  {&frame_layout_10, malloc_10},
                  {&frame_layout_11, malloc_11},
                  {&frame_layout_12, malloc_12},
                  {&frame_layout_13, malloc_13}};

static struct python_allocator object_hooks(struct domain *mine) {
  struct python_allocator hooks = {mine, malloc_other, hook_calloc, hook_realloc, free_shortly};
  for (size_t i = 0; i < sizeof short_ways / sizeof *short_ways; i++)
    if (memcmp(short_ways[i].layout, &frame_layout, sizeof frame_layout) == 0) hooks.malloc = short_ways[i].malloc;
  return hooks;
}

// ---- native blocks of Python code

// Runs inside a hook of native's.
static uint32_t native_frame(void) {
  if (unlikely(interpreter_phase == INTERPRETER_STARTING)) interpreter_look();
  if (hook_python_ended || interpreter_phase == INTERPRETER_PREPARING) return 0;
  void *state = python_thread_state();
  if (!state) { // extensions let go of the GIL around large allocations
    state = python.PyGILState_GetThisThreadState();
    return state ? line_frame_without_gil(running_frame_read(state)) : 0;
  }
  if (unlikely(table_lock_needed)) lock_take(&table_lock);
  line_id line = line_running(state);
  uint32_t frame = line.value && line_table[line.value].code ? line_table[line.value].frame : 0;
  if (unlikely(table_lock_needed)) lock_drop(&table_lock);
  return frame;
}

// ---- putting them in

static bool is_in(int domain) {
  struct python_allocator now;
  python.PyMem_GetAllocator(domain, &now);
  return now.realloc == hook_realloc;
}

static void put_in(struct domain *mine, int domain) {
  python.PyMem_GetAllocator(domain, &mine->below);
  mine->is_raw = domain == PYTHON_RAW;
  struct python_allocator hooks = {mine, hook_malloc, hook_calloc, hook_realloc, hook_free};
  if (!mine->is_raw) hooks = object_hooks(mine);
  python.PyMem_SetAllocator(domain, &hooks);
}

// Python's own changes during start-up concern all domains at once, or RAW alone and for a moment.
void hook_python_install(bool all) {
  if (installs == INSTALLS_MAX || (!all && is_in(PYTHON_OBJ))) return;
  bool missing = false;
  for (int domain = 0; domain < PYTHON_DOMAINS; domain++)
    if (!is_in(domain)) put_in(&domains[installs][domain], domain), missing = true;
  installs += missing;
  arenas_install();
  ht_set_frame_source(native_frame);
}

void hook_python_end(void) {
  hook_python_ended = true;
  detour_set(DETOUR_END);
}
