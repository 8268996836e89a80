// The short way: small objects of the one interpreter, which runs Python code, while nothing is out of the ordinary.
// What the hooks of hook_python.c do then and no more; compiled for each layout of frames.
//
// A program in Python does little else than this: a hundred instructions here are a quarter of its time. Hence each
// way out is a jump (a call would have the registers saved that live across it), and what would need one is looked
// for first: nothing has been done then that the long way does again.

#include <string.h>

#include "detour.h"
#include "hook_domain.h"
#include "object_count.h"
#include "object_map.h"
#include "state_place.h"

#define CALL_BUDGET_BYTES ((int64_t)SAMPLE_CALL_BYTES)

HT_INLINE bool thread_ordinary(const struct thread *thread) { return likely(thread && !thread_busy(thread)); }

// ---- the end of each, when something is to be done beside it

static HT_NOINLINE void *note_late(struct thread *thread, void *block, size_t bytes) {
  ht_hook_end(thread);
  hook_note(thread, block, bytes);
  return block;
}

static HT_NOINLINE void *end_over_bound(struct thread *thread, void *block) {
  gauges_over_bound(&thread->count, HT_KIND_PYTHON);
  ht_hook_end(thread);
  return block;
}

static HT_NOINLINE void *end_deferred(struct thread *thread, void *block) {
  ht_deferred_run(thread);
  return block;
}

static HT_NOINLINE void free_deferred(const struct domain *domain, void *block) {
  ht_deferred_run(thread_tls);
  domain->below.free(NULL, block);
}

// ---- allocations

// The key of the frame, as far as it tells frames apart. Chains are not compiled for each layout.
HT_INLINE struct frame_key key_of(const struct frame_layout *layout, const char *frame) {
  if (layout == &frame_layout && unlikely(chain_depth > 1)) return frame_key_of_chain(layout, frame);
  return frame_key_of(frame_read(layout, frame));
}

// The object map's value for a block of `bytes`; 0: it has to be looked for. An instruction of a code object that is
// kept alive is that one's alone, so that of a pointer to it nothing else has to be compared (key_value_slowly sees to
// that).
HT_INLINE uint32_t value_of(const struct frame_layout *layout, const struct python_thread_links *state, size_t bytes) {
  if (unlikely(!state || state->interpreter != short_way.interpreter)) return 0;
  const char *frame = frame_innermost(layout, state);
  if (unlikely(!frame)) return 0;
  if (layout == &frame_layout || layout->code_instructions == FRAME_LAYOUT_NONE)
    return key_recent(key_of(layout, frame), bytes);
  return key_recent_at((uint64_t)(uintptr_t)field_pointer(frame, layout->frame_instruction), bytes);
}

// Records the block that the allocator below gave; NULL: it gave none.
HT_INLINE void *noted(const struct frame_layout *layout, struct thread *thread, const void *state, void *block,
                      size_t bytes) {
  ht_hook_begin(thread);
  uint32_t value = value_of(layout, state, bytes);
  if (unlikely(!value)) return note_late(thread, block, bytes);
  const uint64_t *page = object_descriptor((uintptr_t)block, frame_layout_pool_bits(layout->minor));
  if (unlikely(!page || !*page)) return note_late(thread, block, bytes);
  uint32_t *slot = object_slot(*page, (uintptr_t)block);
  if (unlikely(*slot)) return note_late(thread, block, bytes);
  int64_t budget = thread->sample_budget - (CALL_BUDGET_BYTES + (int64_t)bytes);
  if (unlikely(budget < 0)) return note_late(thread, block, bytes);
  thread->sample_budget = budget;
  thread->last_block = (uintptr_t)block;
  *slot = value | object_start_bits((uintptr_t)block);
  if (unlikely(pair_alloc_within(&thread->count, pair_of_value(value), bytes))) return end_over_bound(thread, block);
  __asm__ volatile("" ::: "memory");
  thread->in_hook = 0;
  if (unlikely(thread->deferred_used)) return end_deferred(thread, block);
  return block;
}

typedef void *(*state_reader)(void);

HT_INLINE void *malloc_shortly(const struct frame_layout *layout, state_reader state, void *context, size_t bytes) {
  const struct domain *domain = context;
  struct thread *thread = thread_tls;
  if (unlikely(!thread_ordinary(thread) || bytes > OBJECT_BYTES_MAX)) return hook_malloc(context, bytes);
  thread->suspended = 1;
  void *block = domain->below.malloc(domain->below.context, bytes);
  thread->suspended = 0;
  return noted(layout, thread, state(), block, bytes);
}

HT_INLINE void *calloc_shortly(const struct frame_layout *layout, state_reader state, void *context, size_t count,
                               size_t item_bytes) {
  const struct domain *domain = context;
  struct thread *thread = thread_tls;
  size_t bytes;
  bool overflow = __builtin_mul_overflow(count, item_bytes, &bytes);
  if (unlikely(!thread_ordinary(thread) || overflow || bytes > OBJECT_BYTES_MAX))
    return hook_calloc(context, count, item_bytes);
  thread->suspended = 1;
  void *block = domain->below.calloc(domain->below.context, count, item_bytes);
  thread->suspended = 0;
  return noted(layout, thread, state(), block, bytes);
}

// From a small object to a small one.
HT_INLINE void *realloc_shortly(const struct frame_layout *layout, state_reader state, void *context, void *old,
                                size_t bytes) {
  const struct domain *domain = context;
  struct thread *thread = thread_tls;
  uint32_t page_bits = frame_layout_pool_bits(layout->minor), pair = 0;
  if (unlikely(!thread_ordinary(thread) || bytes > OBJECT_BYTES_MAX)) return hook_realloc(context, old, bytes);
  ht_hook_begin(thread);
  if (likely(old && !detour_needed())) pair = object_map_take((uintptr_t)old, page_bits);
  ht_hook_end(thread);
  if (unlikely(!pair)) return hook_realloc(context, old, bytes);
  thread->suspended = 1;
  void *block = domain->below.realloc(domain->below.context, old, bytes);
  thread->suspended = 0;
  ht_hook_begin(thread);
  if (likely(block != NULL))
    pair_free(&thread->count, pair, false);
  else
    object_map_put_quickly((uintptr_t)old, pair, page_bits);
  ht_hook_end(thread);
  return likely(block != NULL) ? noted(layout, thread, state(), block, bytes) : NULL;
}

// ---- frees

typedef void (*free_hook)(void *context, void *block);

HT_INLINE void free_late(struct thread *thread, void *context, void *block) {
  thread->in_hook = 0;
  hook_free(context, block);
}

// The first free after a rise: the peak is stamped, then once more.
static HT_NOINLINE void commit_and_free(void *context, void *block, free_hook again) {
  struct thread *thread = thread_tls;
  gauges_commit(&thread->count);
  ht_hook_end(thread);
  again(context, block);
}

static HT_NOINLINE void tick_and_free(const struct domain *domain, void *block) {
  sampler_tick(thread_tls);
  ht_hook_end(thread_tls);
  domain->below.free(NULL, block);
}

// The allocator below is the interpreter's own, which needs no library function to free what lies in an arena.
HT_INLINE void free_shortly(void *context, void *block, uint32_t page_bits, free_hook self) {
  const struct domain *domain = context;
  struct thread *thread = thread_tls;
  if (unlikely(!thread_ordinary(thread))) return hook_free(context, block);
  ht_hook_begin(thread);
  const uint64_t *page = object_descriptor((uintptr_t)block, page_bits);
  if (unlikely(!page || !*page)) return free_late(thread, context, block);
  uint32_t *slot = object_slot(*page, (uintptr_t)block);
  uint32_t value = *slot ^ object_start_bits((uintptr_t)block);
  if (unlikely(value & OBJECT_START_MASK || value < short_way.first_value)) return free_late(thread, context, block);
  if (unlikely(count_must_commit(&thread->count))) return commit_and_free(context, block, self);
  *slot = 0;
  pair_free_calmly(&thread->count, pair_of_value(value), thread->last_block == (uintptr_t)block);
  thread->last_block = 0;
  thread->sample_budget -= CALL_BUDGET_BYTES;
  if (unlikely(thread->sample_budget < 0)) return tick_and_free(domain, block);
  __asm__ volatile("" ::: "memory");
  thread->in_hook = 0;
  if (unlikely(thread->deferred_used)) return free_deferred(domain, block);
  domain->below.free(NULL, block);
}

static void free_12(void *context, void *block) { free_shortly(context, block, 12, free_12); }
static void free_14(void *context, void *block) { free_shortly(context, block, 14, free_14); }

// ---- for each layout

#define SHORT_WAY(name, layout, state)                                                                                 \
  static void *malloc_##name(void *context, size_t bytes) { return malloc_shortly(layout, state, context, bytes); }    \
  static void *calloc_##name(void *context, size_t count, size_t item_bytes) {                                         \
    return calloc_shortly(layout, state, context, count, item_bytes);                                                  \
  }                                                                                                                    \
  static void *realloc_##name(void *context, void *old, size_t bytes) {                                                \
    return realloc_shortly(layout, state, context, old, bytes);                                                        \
  }
SHORT_WAY(9, &frame_layout_9, state_in_memory)
SHORT_WAY(10, &frame_layout_10, state_in_memory)
SHORT_WAY(11, &frame_layout_11, state_in_memory)
SHORT_WAY(12, &frame_layout_12, state_in_thread)
SHORT_WAY(13, &frame_layout_13, state_in_thread)
SHORT_WAY(other, &frame_layout, state_anywhere)

static const struct way {
  const struct frame_layout *layout;
  enum state_place_kind place;
  struct python_allocator hooks;
} ways[] = {
#define WAY(name, layout, place)                                                                                       \
  {                                                                                                                    \
    layout, place, { NULL, malloc_##name, calloc_##name, realloc_##name, NULL }                                        \
  }
    WAY(9, &frame_layout_9, STATE_IN_MEMORY),   WAY(10, &frame_layout_10, STATE_IN_MEMORY),
    WAY(11, &frame_layout_11, STATE_IN_MEMORY), WAY(12, &frame_layout_12, STATE_IN_THREAD),
    WAY(13, &frame_layout_13, STATE_IN_THREAD), WAY(other, &frame_layout, STATE_ASKED), // the last one fits always
#undef WAY
};

static bool way_fits(const struct way *way) {
  if (way->layout == &frame_layout) return true;
  return chain_depth == 1 && way->place == state_place_kind &&
         memcmp(way->layout, &frame_layout, sizeof frame_layout) == 0;
}

// The interpreter's own allocators have no context (Objects/obmalloc.c: PYOBJ_ALLOC, MALLOC_ALLOC), those that stand
// above them (debug, tracemalloc) do.
static bool is_own(const struct python_allocator *below) { return below->context == NULL; }

struct python_allocator hook_object_hooks(struct domain *mine) {
  const struct way *way = ways;
  while (!way_fits(way)) way++;
  struct python_allocator hooks = way->hooks;
  hooks.free = !is_own(&mine->below) ? hook_free : frame_layout_pool_bits(frame_layout.minor) == 12 ? free_12 : free_14;
  hooks.context = mine;
  return hooks;
}
