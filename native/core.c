#include "core.h"

#include <signal.h>
#include <sys/mman.h>

#include "common_case.h"
#include "heap_sample.h"
#include "live.h"
#include "lock.h"
#include "ranges.h"
#include "site.h"
#include "stack_check.h"
#include "stack_merge.h"
#include "sys.h"

static ht_line_source line_source;
void ht_set_line_source(ht_line_source source, const struct merge_front *front) {
  stack_merge_set(front);
  line_source = source;
  ht_detours_look();
}

// One test on the way of the common case for all that leads off it.
static bool detours = true, free_detours = true;
void ht_detours_look(void) {
  free_detours = heap_sample_on || !live_wide;
  detours = free_detours || line_source || stack_check_on;
}

// ---- calls of signal handlers inside a hook: noted, and made up for when the hook ends

static HT_NOINLINE bool defer(struct thread *thread, struct deferred_call call) {
  if (thread->deferred_used == DEFERRED_MAX)
    return __atomic_add_fetch(&thread_unseen_calls, 1, __ATOMIC_RELAXED), false;
  thread->deferred[thread->deferred_used++] = call;
  return true;
}

// A signal handler that jumps out (siglongjmp) leaves the hook that it interrupted for good. It is known by a call from
// a frame of the same stack above the one that had gone in: a handler's frames lie below. Where a lock was held it
// stays, and the thread's calls pass by.
static bool on_alternate_stack(void) {
  stack_t stack;
  return sys_call3(SYS_sigaltstack, 0, (long)&stack, 0) < 0 || stack.ss_flags & SS_ONSTACK;
}

static HT_NOINLINE bool hook_was_left(struct thread *thread, struct hook_frame frame) {
  uintptr_t begun = thread->in_hook;
  if (begun <= THREAD_MARK_MOST || thread->suspended || lock_depth) return false;
  if (begun < thread->memo.stack_low || frame.slot <= begun || frame.slot >= thread->memo.stack_high) return false;
  if (on_alternate_stack()) return false; // it may be a variable of a function's
  thread->moving = 0;
  stack_memo_reset(&thread->memo); // half made, maybe
  ht_hook_end(thread);
  return true;
}

HT_INLINE bool is_inside(struct thread *thread, struct hook_frame frame) {
  return unlikely(thread->in_hook) && !hook_was_left(thread, frame);
}

static HT_NOINLINE void stack_checked(struct thread *thread, struct hook_frame frame) {
  uint8_t deferred_used = thread->deferred_used;
  stack_check(&thread->memo, frame);
  thread->deferred_used = deferred_used; // what libunwind allocated for itself
  thread->memo.path = NULL;
}

// The common case of malloc and free is one function each (HT_INLINE). With this, slots read four at a time and no SSE
// registers (Makefile) the bench `deep` went from 5.5 to 4.2 times the bare program.
HT_INLINE site_id site_with(struct thread *thread, struct hook_frame frame, enum ht_kind kind, uint32_t line_node) {
  site_id site = stack_memo_site(&thread->memo, frame, kind, line_node);
  if (unlikely(stack_check_on)) stack_checked(thread, frame);
  return site;
}

HT_INLINE site_id site_of(struct thread *thread, struct hook_frame frame, enum ht_kind kind) {
  return site_with(thread, frame, kind, unlikely(line_source != NULL) ? line_source(false) : 0);
}

static HT_NOINLINE site_id mapping_site(struct thread *thread, struct hook_frame frame) {
  return site_of(thread, frame, HT_KIND_MMAP);
}

// ---- heap blocks

// A block that was recorded with sampling on.
static HT_NOINLINE void sample_free_count(struct thread *thread, const struct block *taken, bool temporary) {
  count_free_many(&thread->count, taken->site, site_at(taken->site)->kind, taken->size_bytes, temporary,
                  heap_sample_weight_of(taken));
}

HT_INLINE void free_taken(struct thread *thread, const struct block *taken, bool temporary) {
  if (unlikely(site_is_inherited(taken->site))) return; // the parent's block: no free of ours
  if (unlikely(heap_sample_on)) return sample_free_count(thread, taken, temporary);
  count_free(&thread->count, taken->site, site_at(taken->site)->kind, taken->size_bytes, temporary);
}

// The allocator handed out an address whose last block was never seen to be freed: it is gone.
static HT_NOINLINE void stale_count(struct thread *thread, uint32_t entry, uintptr_t start) {
  struct block block = {.start = start, .site = {entry >> LIVE_SLACK_BITS}};
  if (site_is_inherited(block.site)) return;
  uint32_t slack = entry & live_slack_side(live_wide);
  if (slack == live_slack_side(live_wide)) { // its size is lost
    count_free(&thread->count, block.site, site_at(block.site)->kind, 0, false);
  } else {
    block.size_bytes = live_usable_size(start) - slack;
    free_taken(thread, &block, false);
  }
}

HT_INLINE void alloc_at(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site, enum ht_kind kind) {
  uint32_t stale = live_put(start, size_bytes, site);
  if (unlikely(stale)) stale_count(thread, stale, start);
  count_alloc(&thread->count, site, kind, size_bytes);
}

// In place of alloc_at. A block that another way than the hooks freed leaves its entry behind.
static void foreign_put(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  struct block stale;
  if (live_take(start, &stale)) free_taken(thread, &stale, false);
  live_put_foreign(start, size_bytes, site);
}

static HT_NOINLINE void foreign_alloc_at(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  foreign_put(thread, start, size_bytes, site);
  count_alloc_many(&thread->count, site, HT_KIND_HEAP, size_bytes, heap_sample_on ? heap_sample_weight(size_bytes) : 1);
}

// ---- the same with sampling on. A block that is not recorded still ends a temporary and pays for a look at the clock.

static HT_NOINLINE void sampler_look(struct thread *thread) {
  ht_hook_begin(thread);
  sampler_tick(thread);
  ht_hook_end(thread);
}

HT_INLINE void pass_by(struct thread *thread, uintptr_t start, size_t size_bytes) {
  thread->last_block = start;
  thread->sample_budget -= (int64_t)(size_bytes + SAMPLE_CALL_BYTES);
  if (unlikely(thread->sample_budget < 0)) sampler_look(thread);
}

static HT_NOINLINE void sample_alloc_at(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  uint32_t stale = live_put(start, size_bytes, site);
  if (unlikely(stale)) stale_count(thread, stale, start);
  count_alloc_many(&thread->count, site, HT_KIND_HEAP, size_bytes, heap_sample_weight(size_bytes));
}

static HT_NOINLINE void sample_alloc(struct thread *thread, uintptr_t start, size_t size_bytes,
                                     struct hook_frame frame) {
  ht_hook_begin(thread);
  ht_called(thread, start, size_bytes);
  sample_alloc_at(thread, start, size_bytes, site_of(thread, frame, HT_KIND_HEAP));
  ht_hook_end(thread);
}

HT_INLINE bool is_skipped(struct thread *thread, size_t size_bytes) {
  return unlikely(heap_sample_on) && heap_sample_skips(thread, size_bytes);
}

// For who has asked is_skipped.
HT_INLINE void heap_alloc_at(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  if (unlikely(heap_sample_on))
    sample_alloc_at(thread, start, size_bytes, site);
  else
    alloc_at(thread, start, size_bytes, site, HT_KIND_HEAP);
}

// ---- the door

// In a thread that is busy, or with a detour.
static HT_NOINLINE void alloc_otherwise(struct thread *thread, uintptr_t start, size_t size_bytes,
                                        struct hook_frame frame) {
  if (thread_busy(thread) && !hook_was_left(thread, frame)) {
    if (thread->suspended)
      thread->passed_block = start;
    else
      defer(thread, (struct deferred_call){start, size_bytes, NULL, 0, true, DEFERRED_ALLOC});
    return;
  }
  if (is_skipped(thread, size_bytes)) return pass_by(thread, start, size_bytes);
  if (heap_sample_on) return sample_alloc(thread, start, size_bytes, frame);
  ht_hook_begin(thread);
  ht_called(thread, start, size_bytes);
  alloc_at(thread, start, size_bytes, site_of(thread, frame, HT_KIND_HEAP), HT_KIND_HEAP);
  ht_hook_end(thread);
}

static HT_NOINLINE void alloc_begun(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  ht_called(thread, start, size_bytes);
  alloc_at(thread, start, size_bytes, site, HT_KIND_HEAP);
  ht_hook_end(thread);
}

// True: a stack that was not known.
static HT_NOINLINE bool alloc_begun_deep(struct thread *thread, uintptr_t start, size_t size_bytes,
                                         struct hook_frame frame) {
  uint32_t sites = site_count;
  ht_called(thread, start, size_bytes);
  site_id site = stack_memo_site_other(&thread->memo, frame, STACK_BESIDE_HEAP, HT_KIND_HEAP, 0);
  alloc_at(thread, start, size_bytes, site, HT_KIND_HEAP);
  ht_hook_end(thread);
  return site_count != sites;
}

// What is called for a new stack saves the block's address in its frames. In the dead part of the stack, where frames
// of later calls have holes, it would pass for a pointer of the program's and hide a leak.
#define DEPTHS_BYTES 1024
static HT_NOINLINE void depths_clear(void) {
  char depths[DEPTHS_BYTES];
  __builtin_memset(depths, 0, sizeof depths);
  __asm__ volatile("" ::"r"(depths) : "memory");
}

// Has no register to save itself, the hook's one with the block among them.
static HT_NOINLINE void alloc_begun_elsewhere(struct thread *thread, uintptr_t start, size_t size_bytes,
                                              struct hook_frame frame) {
  if (unlikely(alloc_begun_deep(thread, start, size_bytes, frame))) depths_clear();
}

static HT_NOINLINE void alloc_over_bound(struct thread *thread) {
  gauges_over_bound(&thread->count, HT_KIND_HEAP);
  ht_hook_end(thread);
}

// Every call in here is its last, so that no register has to be saved.
void ht_alloc(struct thread *thread, void *block, size_t size_bytes, struct hook_frame frame) {
  uintptr_t start = (uintptr_t)block;
  if (unlikely(thread_busy(thread) | detours)) return alloc_otherwise(thread, start, size_bytes, frame);
  ht_hook_begin(thread);
  if (unlikely(!stack_memo_heap_again(&thread->memo, frame)))
    return alloc_begun_elsewhere(thread, start, size_bytes, frame);
  site_id site = thread->memo.sites[0];
  if (unlikely(!common_alloc(thread, start, size_bytes, site))) return alloc_begun(thread, start, size_bytes, site);
  if (unlikely(gauges_add_within(&thread->count, HT_KIND_HEAP, size_bytes))) return alloc_over_bound(thread);
  ht_hook_end(thread);
}

void ht_alloc_foreign(struct thread *thread, void *block, size_t size_bytes, struct hook_frame frame) {
  if (unlikely(thread_busy(thread))) {
    if (!thread->suspended)
      defer(thread, (struct deferred_call){(uintptr_t)block, size_bytes, NULL, 0, true, DEFERRED_ALLOC_FOREIGN});
    return;
  }
  if (is_skipped(thread, size_bytes)) return pass_by(thread, (uintptr_t)block, size_bytes);
  ht_hook_begin(thread);
  ht_called(thread, (uintptr_t)block, size_bytes);
  foreign_alloc_at(thread, (uintptr_t)block, size_bytes, site_of(thread, frame, HT_KIND_HEAP));
  ht_hook_end(thread);
}

void ht_alloc_at(struct thread *thread, void *block, size_t size_bytes, site_id site) {
  uintptr_t start = (uintptr_t)block;
  ht_called(thread, start, size_bytes);
  if (likely(thread->passed_block == start)) return alloc_at(thread, start, size_bytes, site, site_at(site)->kind);
  foreign_put(thread, start, size_bytes, site);
  count_alloc(&thread->count, site, site_at(site)->kind, size_bytes);
}

HT_NOINLINE site_id ht_site(struct thread *thread, struct hook_frame frame, enum ht_kind kind) {
  return site_of(thread, frame, kind);
}

HT_NOINLINE site_id ht_site_all_lines(struct thread *thread, struct hook_frame frame, enum ht_kind kind) {
  return site_with(thread, frame, kind, line_source ? line_source(true) : 0);
}

static HT_NOINLINE void free_begun(struct thread *thread, uintptr_t start) {
  struct block taken;
  bool temporary = thread->last_block == start;
  bool known = live_take(start, &taken);
  ht_called(thread, 0, known ? taken.size_bytes : 0);
  if (likely(known)) free_taken(thread, &taken, temporary);
  ht_hook_end(thread);
}

static HT_NOINLINE void free_deferred(struct thread *thread, uintptr_t start) {
  defer(thread, (struct deferred_call){start, 0, NULL, 0, false, DEFERRED_FREE});
}

void ht_free(struct thread *thread, void *block) {
  uintptr_t start = (uintptr_t)block;
  if (unlikely(thread->in_hook)) return free_deferred(thread, start);
  ht_hook_begin(thread);
  if (unlikely(free_detours) || unlikely(!common_free(thread, start))) return free_begun(thread, start);
  ht_hook_end(thread);
}

void ht_freed(struct thread *thread, const struct block *taken) { free_taken(thread, taken, false); }

void ht_disown(struct thread *thread, void *block) {
  struct block taken;
  if (((uintptr_t)block & 15) == 0 && live_take((uintptr_t)block, &taken)) free_taken(thread, &taken, false);
}

bool ht_move_begin(struct thread *thread, void *old, struct block *taken) {
  if (unlikely(thread->in_hook)) return false;
  ht_hook_begin(thread);
  bool known = live_take((uintptr_t)old, taken);
  thread->moving = known;
  ht_hook_end(thread);
  return known;
}

void ht_move_end(struct thread *thread, const struct block *taken, void *block, size_t size_bytes,
                 struct hook_frame frame) {
  ht_hook_begin(thread);
  ht_called(thread, (uintptr_t)block, taken->size_bytes + (block ? size_bytes : 0));
  site_id site = {0};
  bool recorded = block && !is_skipped(thread, size_bytes);
  if (recorded) site = site_of(thread, frame, HT_KIND_HEAP);
  free_taken(thread, taken, false);
  if (recorded) heap_alloc_at(thread, (uintptr_t)block, size_bytes, site);
  thread->moving = 0;
  ht_hook_end(thread);
}

void ht_move_failed(struct thread *thread, const struct block *taken) {
  ht_hook_begin(thread);
  live_put(taken->start, taken->size_bytes, taken->site);
  thread->moving = 0;
  ht_hook_end(thread);
}

// ---- ranges

static uintptr_t page_up(uintptr_t address) { return (address + 4095) & ~4095ul; }

// One piece goes. Caller holds the range lock.
static void piece_drop(struct thread *thread, const struct range *range, bool temporary) {
  bool last = range_block_drop_locked(range->block);
  if (!range->site.value || (range->flags & RANGE_INHERITED)) return;
  if (last)
    count_free(&thread->count, range->site, range->kind, range_bytes(range), temporary);
  else
    count_shrink(&thread->count, range->site, range->kind, range_bytes(range));
}

static void span_drop(struct thread *thread, uintptr_t start, uintptr_t end, bool temporary) {
  uint32_t count;
  struct range *span = range_span_locked(start, end, &count);
  for (uint32_t i = 0; i < count; i++) piece_drop(thread, &span[i], temporary);
  if (count) range_remove_locked(span, count);
}

static void block_add(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site, uint8_t flags) {
  uintptr_t end = page_up(start + size_bytes);
  struct range range = {.start = start,
                        .end = end,
                        .site = site,
                        .block = range_block_new_locked(),
                        .slack_bytes = (uint16_t)(end - start - size_bytes),
                        .kind = HT_KIND_MMAP,
                        .flags = flags};
  if (range_insert_locked(&range)) count_alloc(&thread->count, site, HT_KIND_MMAP, size_bytes);
}

static void map_locked(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, uint8_t flags,
                       site_id site) {
  span_drop(thread, start, page_up(start + size_bytes), false); // MAP_FIXED over something
  if (site.value && protection != PROT_NONE) {
    block_add(thread, start, size_bytes, site, flags);
    return;
  }
  if (protection == PROT_NONE && !flags) flags = RANGE_RESERVED;
  if (!flags) return; // a file's or shared pages: only what they replaced matters
  struct range range = {.start = start, .end = page_up(start + size_bytes), .kind = HT_KIND_MMAP, .flags = flags};
  range_insert_locked(&range);
}

void ht_map(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, uint8_t flags,
            struct hook_frame frame) {
  if (is_inside(thread, frame)) {
    defer(thread, (struct deferred_call){start, size_bytes, NULL, protection, !flags, DEFERRED_MAP});
    return;
  }
  ht_hook_begin(thread);
  bool is_block = protection != PROT_NONE && !flags;
  site_id site = is_block ? mapping_site(thread, frame) : (site_id){0};
  ht_called(thread, is_block ? start : 0, is_block ? size_bytes : 0);
  lock_take(range_lock());
  map_locked(thread, start, size_bytes, protection, flags, site);
  lock_drop(range_lock());
  ht_hook_end(thread);
}

void ht_unmap(struct thread *thread, uintptr_t start, size_t size_bytes) {
  if (unlikely(thread->in_hook)) {
    defer(thread, (struct deferred_call){start, size_bytes, NULL, 0, false, DEFERRED_UNMAP});
    return;
  }
  ht_hook_begin(thread);
  bool temporary = thread->last_block == start;
  ht_called(thread, 0, size_bytes);
  lock_take(range_lock());
  span_drop(thread, start, page_up(start + size_bytes), temporary);
  lock_drop(range_lock());
  ht_hook_end(thread);
}

// Commits the reserved parts of [start, end), or takes back what was committed there.
static void protect_locked(struct thread *thread, uintptr_t start, uintptr_t end, int protection, site_id site) {
  uint32_t count;
  struct range *span = range_span_locked(start, end, &count);
  for (uint32_t i = 0; i < count; i++) {
    struct range *range = &span[i];
    if (!(range->flags & RANGE_RESERVED) || (range->site.value != 0) == (protection != PROT_NONE)) continue;
    if (protection == PROT_NONE) {
      piece_drop(thread, range, false);
      range->site.value = range->block = 0;
    } else {
      range->site = site;
      range->block = range_block_new_locked();
      count_alloc(&thread->count, site, HT_KIND_MMAP, range_bytes(range));
    }
  }
}

static bool any_reserved(uintptr_t start, uintptr_t end) {
  uint32_t count;
  const struct range *range = range_from(start, &count);
  for (; count > 0 && range->start < end; range++, count--)
    if (range->flags & RANGE_RESERVED) return true;
  return false;
}

void ht_protect(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, struct hook_frame frame) {
  if (unlikely(thread->in_hook)) return; // a handler's mprotect inside a hook: not followed
  ht_hook_begin(thread);
  uintptr_t end = page_up(start + size_bytes);
  lock_take(range_lock());
  bool reserved = any_reserved(start, end);
  lock_drop(range_lock());
  if (reserved) {
    site_id site = mapping_site(thread, frame);
    ht_called(thread, 0, size_bytes);
    lock_take(range_lock());
    protect_locked(thread, start, end, protection, site);
    lock_drop(range_lock());
  }
  ht_hook_end(thread);
}

// A reservation (with what is committed in it) moves: every piece keeps its site.
static void span_move(uintptr_t start, uintptr_t end, uintptr_t to) {
  uint32_t count;
  for (struct range *span; (span = range_span_locked(start, end, &count)), count > 0;) {
    struct range moved = span[0];
    range_remove_locked(span, 1);
    moved.start += to - start;
    moved.end += to - start;
    if (!range_insert_locked(&moved)) return;
  }
}

static void remap_locked(struct thread *thread, uintptr_t old_start, uintptr_t old_end, uintptr_t start,
                         size_t size_bytes, site_id site) {
  uint32_t count;
  if (start != old_start) span_drop(thread, start, page_up(start + size_bytes), false); // MREMAP_FIXED over something
  struct range *span = range_span_locked(old_start, old_end, &count);
  if (count == 0) return; // not ours: a file's, or from before
  bool one_block = count == 1 && span->site.value && !(span->flags & RANGE_RESERVED);
  if (one_block) { // as realloc: the old block is freed, a new one allocated here
    uint8_t flags = span->flags & RANGE_LAZY;
    span_drop(thread, old_start, old_end, false);
    block_add(thread, start, size_bytes, site, flags);
  } else {
    if (old_start + size_bytes < old_end) span_drop(thread, old_start + size_bytes, old_end, false);
    if (start != old_start) span_move(old_start, old_end, start);
  }
}

void ht_remap(struct thread *thread, uintptr_t old_start, size_t old_bytes, uintptr_t start, size_t size_bytes,
              struct hook_frame frame) {
  if (is_inside(thread, frame)) return;
  ht_hook_begin(thread);
  site_id site = mapping_site(thread, frame);
  ht_called(thread, start, size_bytes);
  lock_take(range_lock());
  remap_locked(thread, old_start, page_up(old_start + old_bytes), start, size_bytes, site);
  lock_drop(range_lock());
  ht_hook_end(thread);
}

void ht_discard(struct thread *thread, uintptr_t start, size_t size_bytes) {
  if (unlikely(thread->in_hook)) return;
  ht_hook_begin(thread);
  lock_take(range_lock());
  uint32_t count;
  struct range *range = range_from(start, &count);
  for (; count > 0 && range->start < start + size_bytes; range++, count--) range->flags |= RANGE_LAZY;
  lock_drop(range_lock());
  ht_hook_end(thread);
}

// ---- what was deferred

void ht_deferred_run(struct thread *thread) {
  while (thread->deferred_used) {
    ht_hook_begin(thread);
    if (!thread->deferred_used) { // a handler's own hook came in between and has done it all
      thread->in_hook = 0;
      return;
    }
    struct deferred_call call = thread->deferred[0];
    for (int i = 1; i < thread->deferred_used; i++) thread->deferred[i - 1] = thread->deferred[i];
    thread->deferred_used--;
    struct block taken;
    switch (call.operation) {
    case DEFERRED_ALLOC:
      if (!is_skipped(thread, call.size_bytes))
        heap_alloc_at(thread, call.start, call.size_bytes, site_reserved(SITE_SIGNAL));
      break;
    case DEFERRED_ALLOC_FOREIGN:
      if (!is_skipped(thread, call.size_bytes))
        foreign_alloc_at(thread, call.start, call.size_bytes, site_reserved(SITE_SIGNAL));
      break;
    case DEFERRED_FREE:
      if (live_take(call.start, &taken)) free_taken(thread, &taken, false);
      break;
    case DEFERRED_MAP:
    case DEFERRED_UNMAP:
      lock_take(range_lock());
      if (call.operation == DEFERRED_MAP)
        map_locked(thread, call.start, call.size_bytes, call.argument, 0,
                   call.is_block ? site_reserved(SITE_SIGNAL_MAP) : (site_id){0});
      else
        span_drop(thread, call.start, page_up(call.start + call.size_bytes), false);
      lock_drop(range_lock());
      break;
    default:
      break;
    }
    __asm__ volatile("" ::: "memory");
    thread->in_hook = 0;
    if (call.operation == DEFERRED_CALL) call.call(call.argument);
  }
}

bool ht_call_after_hook(struct thread *thread, void (*function)(int), int argument) {
  return defer(thread, (struct deferred_call){0, 0, function, argument, false, DEFERRED_CALL});
}

// ---- front ends

static const struct block_source *block_source;
void ht_add_block_source(const struct block_source *source) { block_source = source; }
const struct block_source *ht_block_source(void) { return block_source; }

static ht_site_lookup site_lookup;
void ht_set_site_lookup(ht_site_lookup lookup) { site_lookup = lookup; }
site_id ht_site_of(uintptr_t address) { return site_lookup ? site_lookup(address) : (site_id){0}; }

static const struct session *session_now;
const struct session *ht_session(void) { return session_now; }
void ht_session_set(const struct session *session) { session_now = session; }

#define HOOKS_MAX 4
static void (*report_hooks[HOOKS_MAX])(void), (*fork_hooks[HOOKS_MAX])(void), (*close_hooks[HOOKS_MAX])(void);

HT_KEPT static void (*attach_hooks[HOOKS_MAX])(void);

static void hook_add(void (**hooks)(void), void (*hook)(void)) {
  for (int i = 0; i < HOOKS_MAX; i++)
    if (!hooks[i]) {
      hooks[i] = hook;
      return;
    }
}
static void hooks_run(void (**hooks)(void)) {
  for (int i = 0; i < HOOKS_MAX && hooks[i]; i++) hooks[i]();
}

void ht_add_report_hook(void (*hook)(void)) { hook_add(report_hooks, hook); }
void ht_report_hooks_run(void) { hooks_run(report_hooks); }
void ht_add_attach_hook(void (*hook)(void)) { hook_add(attach_hooks, hook); }
void ht_attach_hooks_run(void) { hooks_run(attach_hooks); }
void ht_add_fork_hook(void (*hook)(void)) { hook_add(fork_hooks, hook); }
void ht_fork_hooks_run(void) { hooks_run(fork_hooks); }
void ht_add_close_hook(void (*hook)(void)) { hook_add(close_hooks, hook); }
void ht_close_hooks_run(void) { hooks_run(close_hooks); }
