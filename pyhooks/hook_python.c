#include "hook_python.h"

#include "../native/live.h"
#include "../native/modules.h"
#include "arenas.h"
#include "behalf_lines.h"
#include "detour.h"
#include "evaluation.h"
#include "hook_domain.h"
#include "interpreter_life.h"
#include "object_count.h"
#include "object_map.h"
#include "state_place.h"
#include "table_lock.h"

// One for each time that the hooks were put in: an allocator that was saved and put back by Python (it does so for
// the RAW domain during start-up) still finds the one below it.
#define INSTALLS_MAX 32
// Another tool's allocator may lie above heaptide's when it is to go: then they stay for good, and pass through.
HT_KEPT static struct domain domains[INSTALLS_MAX][PYTHON_DOMAINS];
HT_KEPT static unsigned installs;

bool hook_python_ended;
bool hook_python_on;

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
  pair_alloc(&thread->count, pair, size_bytes);
}

HT_INLINE void record(struct thread *thread, bool is_raw, void *state, void *block, size_t size_bytes) {
  if (unlikely(hook_python_ended)) return;
  tables_enter(thread);
  if (is_raw || unlikely(size_bytes > OBJECT_BYTES_MAX))
    record_big(thread, state, block, size_bytes);
  else
    record_small(thread, state, block, size_bytes);
  tables_leave(thread);
}

HT_INLINE void forget(struct thread *thread, const struct domain *domain, void *block) {
  uint32_t pair = 0;
  if (!domain->is_raw) {
    tables_enter(thread);
    pair = object_map_take((uintptr_t)block, object_page_bits);
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
  void *old;
  uint32_t pair;      // 0: not a small block
  struct block block; // site 0: not a big one either
};

static struct taken take(struct thread *thread, const struct domain *domain, void *old) {
  struct taken taken = {.old = old};
  if (!old) return taken;
  tables_enter(thread);
  if (!domain->is_raw) taken.pair = object_map_take((uintptr_t)old, object_page_bits);
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
    live_put_foreign((uintptr_t)old, taken->block.size_bytes, taken->block.site); // malloc's or not
  tables_leave(thread);
}

static void count_taken(struct thread *thread, const struct taken *taken) {
  if (hook_python_ended) return;
  tables_enter(thread);
  if (taken->pair)
    pair_free(&thread->count, taken->pair, false);
  else if (taken->block.site.value)
    ht_freed(thread, &taken->block);
  tables_leave(thread);
}

// A block that was malloc's stays malloc's when it shrinks to a small one. Of an old one that is not known, in an
// interpreter that was attached to, only its new page tells whether it lies in a pool; else it goes unrecorded.
static void record_moved(struct thread *thread, const struct domain *domain, const struct taken *taken, void *state,
                         void *block, size_t size_bytes) {
  bool small = size_bytes <= OBJECT_BYTES_MAX && !domain->is_raw && object_map_has_any_memory();
  if (!small || taken->pair || !taken->old || hook_python_ended)
    return record(thread, domain->is_raw, state, block, size_bytes);
  tables_enter(thread);
  if (taken->block.site.value)
    record_big(thread, state, block, size_bytes);
  else if (object_map_knows_page((uintptr_t)block))
    record_small(thread, state, block, size_bytes);
  tables_leave(thread);
}

// ---- the hooks

// What the interpreter is about, and the state of the calling thread. False: the call is not recorded. A RAW call
// without the GIL is native code's own.
HT_INLINE bool hook_look(struct thread *thread, bool is_raw, void **state) {
  if (unlikely(hook_python_ended)) interpreter_look_again();
  if (unlikely(interpreter_phase == INTERPRETER_STARTING)) interpreter_look();
  *state = is_raw ? python_thread_state() : python.thread_state();
  if (is_raw && !*state) return false;
  if (*state && unlikely(python_interpreter_is_other(*state))) table_lock_begin(thread);
  if (unlikely(interpreter_phase == INTERPRETER_PREPARING)) *state = NULL;
  return true;
}

// The thread whose calls are to be recorded; NULL: pass through.
HT_INLINE struct thread *recorded_thread(const struct domain *domain, void **state) {
  struct thread *thread = thread_self();
  if (unlikely(!thread || thread_busy(thread) || !hook_python_on)) return NULL;
  return hook_look(thread, domain->is_raw, state) ? thread : NULL;
}

void hook_note(struct thread *thread, void *block, size_t bytes) {
  void *state;
  if (!state_place_check()) detour_set(DETOUR_STATE);
  if (!hook_look(thread, false, &state)) return;
  if (!short_way.interpreter) detour_update(); // it is known now
  if (block) record(thread, false, state, block, bytes);
}

void *hook_malloc(void *context, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.malloc(domain->below.context, bytes);
  void *block = below_malloc(thread, domain, bytes);
  if (likely(block != NULL)) record(thread, domain->is_raw, state, block, bytes);
  return block;
}

void *hook_calloc(void *context, size_t count, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.calloc(domain->below.context, count, bytes);
  void *block = below_calloc(thread, domain, count, bytes);
  if (likely(block != NULL)) record(thread, domain->is_raw, state, block, count * bytes);
  return block;
}

void *hook_realloc(void *context, void *old, size_t bytes) {
  const struct domain *domain = context;
  void *state;
  struct thread *thread = recorded_thread(domain, &state);
  if (unlikely(!thread)) return domain->below.realloc(domain->below.context, old, bytes);
  struct taken taken = take(thread, domain, old);
  void *block = below_realloc(thread, domain, old, bytes);
  if (unlikely(!block)) return put_back(thread, &taken, old), NULL;
  count_taken(thread, &taken);
  record_moved(thread, domain, &taken, state, block, bytes);
  return block;
}

void hook_free(void *context, void *block) {
  const struct domain *domain = context;
  struct thread *thread = thread_self();
  if (unlikely(!thread || thread_busy(thread) || !block || !hook_python_on)) {
    domain->below.free(domain->below.context, block);
    return;
  }
  forget(thread, domain, block);
  thread->suspended = 1;
  domain->below.free(domain->below.context, block);
  thread->suspended = 0;
}

// ---- native blocks of Python code

static uint32_t lines_with_gil(void *state) {
  if (unlikely(table_lock_needed)) lock_take(&table_lock);
  line_id line = line_running(state);
  uint32_t node = line.value && line_table[line.value].code ? line_table[line.value].node : 0;
  if (unlikely(table_lock_needed)) lock_drop(&table_lock);
  return node;
}

// Runs inside a hook of native's.
static uint32_t native_lines(bool all) {
  if (unlikely(hook_python_ended)) interpreter_look_again();
  if (unlikely(interpreter_phase == INTERPRETER_STARTING)) interpreter_look();
  if (hook_python_ended || interpreter_phase == INTERPRETER_PREPARING) return 0;
  if (unlikely(all)) return behalf_lines_join(python_thread_state_anyway(), behalf_lines_here());
  void *state = python_thread_state();
  if (state) return behalf_lines_join(state, lines_with_gil(state));
  state = python.PyGILState_GetThisThreadState(); // extensions let go of the GIL around large allocations
  return behalf_lines_join(state, state ? line_node_without_gil(state) : 0);
}

// ---- putting them in

static struct domain *mine_of(int domain, const struct python_allocator *allocator) {
  for (unsigned i = 0; i < installs; i++)
    if (allocator->context == &domains[i][domain]) return &domains[i][domain];
  return NULL;
}

static bool is_in(int domain) {
  struct python_allocator now;
  python.PyMem_GetAllocator(domain, &now);
  return mine_of(domain, &now) != NULL;
}

// In an interpreter that was attached to, all go the long way: what the short one reads without a question may be as
// new, should another tool keep the hooks after a detach.
static void put_in(struct domain *mine, int domain, bool shortly) {
  python.PyMem_GetAllocator(domain, &mine->below);
  mine->is_raw = domain == PYTHON_RAW;
  struct python_allocator hooks = {mine, hook_malloc, hook_calloc, hook_realloc, hook_free};
  if (shortly) hooks = hook_object_hooks(mine);
  python.PyMem_SetAllocator(domain, &hooks);
}

// Python's own changes during start-up concern all domains at once, or RAW alone and for a moment.
void hook_python_install(bool all) {
  if (installs == INSTALLS_MAX || (!all && is_in(PYTHON_OBJ))) return;
  hook_python_on = true;
  bool missing = false;
  for (int domain = 0; domain < PYTHON_DOMAINS; domain++)
    if (!is_in(domain)) put_in(&domains[installs][domain], domain, domain != PYTHON_RAW), missing = true;
  installs += missing;
  arenas_install();
  ht_set_line_source(native_lines, evaluation_front());
}

// What is set, but for hooks that had to stay.
static struct python_allocator below_now(int domain) {
  struct python_allocator now;
  python.PyMem_GetAllocator(domain, &now);
  for (const struct domain *mine; (mine = mine_of(domain, &now));) now = mine->below;
  return now;
}

// Python's own functions need no context; debugging ones have one.
static bool is_pythons_own(const struct python_allocator *allocator) {
  uint32_t module = module_of((uintptr_t)allocator->malloc);
  return !allocator->context && module != UINT32_MAX && module == module_of((uintptr_t)python.PyMem_SetAllocator);
}

bool hook_python_has_room(void) { return installs < INSTALLS_MAX; }

enum python_pools hook_python_pools(void) {
  struct python_allocator raw = below_now(PYTHON_RAW), memory = below_now(PYTHON_MEM), objects = below_now(PYTHON_OBJ);
  if (!is_pythons_own(&memory) || !is_pythons_own(&objects) || memory.malloc != objects.malloc) return POOLS_UNKNOWN;
  return objects.malloc == raw.malloc ? POOLS_NONE : POOLS_OWN;
}

// RAW is called without the GIL at any time, by two loads: function and context. Its memory is malloc's, where native's
// hooks see it.
void hook_python_install_attached(void) {
  hook_python_on = true;
  for (int domain = PYTHON_MEM; domain < PYTHON_DOMAINS; domain++)
    if (!is_in(domain)) put_in(&domains[installs][domain], domain, false);
  installs++;
  arenas_install();
  ht_set_line_source(native_lines, evaluation_front());
}

static bool take_out(int domain) {
  struct python_allocator now, below = below_now(domain);
  python.PyMem_GetAllocator(domain, &now);
  bool mine = mine_of(domain, &now) != NULL;
  if (mine) python.PyMem_SetAllocator(domain, &below);
  return mine;
}

void hook_python_remove(void) {
  hook_python_on = false;
  detour_set(DETOUR_START);
  bool objects = take_out(PYTHON_OBJ), memory = take_out(PYTHON_MEM);
  arenas_remove();
  if (objects && memory) installs = 0;
}

void hook_python_begin_again(void) {
  hook_python_ended = false;
  detour_clear(DETOUR_END);
}

void hook_python_end(void) {
  hook_python_ended = true;
  detour_set(DETOUR_END);
}
