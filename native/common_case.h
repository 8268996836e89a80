// The common case of malloc and free, in one piece without a call in it, so that it needs no registers saved: a block
// as glibc makes them, counters at hand, no sample due, nobody at the height of memory. All is looked at before
// anything is changed; who is told `false` goes the long way from the start. Inside a hook of `thread`; with live_wide
// only.
#ifndef HT_COMMON_CASE_H
#define HT_COMMON_CASE_H

#include "core.h"
#include "live.h"

HT_INLINE bool common_budget_holds(const struct thread *thread, size_t size_bytes) {
  return thread->sample_budget >= (int64_t)(size_bytes + SAMPLE_CALL_BYTES);
}

// A site's word with a call more; full, or right: `size_bytes` is within the budget.
_Static_assert(SAMPLE_BUDGET_BYTES <= SITE_BYTES_MOST, "sizes of the common case");
HT_INLINE uint32_t common_word(uint32_t word, size_t size_bytes) { return word + SITE_CALL + (uint32_t)size_bytes; }

HT_INLINE bool common_entry_at_hand(struct count *count, site_id site) {
  return likely(count_entry_is(count_entry_at(count, site), site));
}

HT_INLINE void common_called(struct thread *thread, uintptr_t block, size_t size_bytes) {
  thread->last_block = block;
  thread->sample_budget -= (int64_t)(size_bytes + SAMPLE_CALL_BYTES);
}

// All but the gauges, which may have to be taken care of at length.
HT_INLINE bool common_alloc(struct thread *thread, uintptr_t start, size_t size_bytes, site_id site) {
  bool many_threads = count_many_threads();
  uint32_t *entry = live_entry(start, true);
  size_t header = live_chunk_header(start), slack = live_chunk_common_bytes(header) - size_bytes;
  if (unlikely(header & CHUNK_MAPPED)) return false;
  if (unlikely(!common_budget_holds(thread, size_bytes)) || unlikely(slack >= live_slack_side(true))) return false;
  if (unlikely(!entry) || unlikely(*entry)) return false;
  uint32_t word = likely(!many_threads) ? common_word(site_at(site)->allocated, size_bytes) : 0;
  if (unlikely(word & SITE_WORD_FULL)) return false;
  if (unlikely(many_threads) && !common_entry_at_hand(&thread->count, site)) return false;
  common_called(thread, start, size_bytes);
  live_entry_set(entry, start, site, (uint32_t)slack, true);
  if (many_threads) {
    count_entry_touch(count_entry_at(&thread->count, site));
    count_entry_alloc(count_entry_at(&thread->count, site), size_bytes);
  } else {
    site_touch(site_at(site));
    site_at(site)->allocated = word;
  }
  count_size(&thread->count, HT_KIND_HEAP, size_bytes);
  return true;
}

HT_INLINE bool common_free(struct thread *thread, uintptr_t start) {
  struct count *count = &thread->count;
  bool many_threads = count_many_threads();
  uint32_t *entry = live_entry(start, true), value = entry ? *entry : 0, slack = value & live_slack_side(true);
  if (unlikely(!live_entry_is(value, start, true)) || unlikely(slack == live_slack_side(true))) return false;
  size_t header = live_chunk_header(start), size_bytes = live_chunk_common_bytes(header) - slack;
  site_id site = {value >> LIVE_SLACK_BITS};
  if (unlikely(header & CHUNK_MAPPED) || unlikely(site_is_inherited(site))) return false;
  if (unlikely(!common_budget_holds(thread, size_bytes))) return false;
  if (unlikely(count_must_commit(count))) return false;
  uint32_t word = likely(!many_threads) ? common_word(site_at(site)->freed, size_bytes) : 0;
  if (unlikely(word & SITE_WORD_FULL)) return false;
  if (unlikely(many_threads) && !common_entry_at_hand(count, site)) return false;
  bool temporary = thread->last_block == start;
  int kind = site_at(site)->kind;
  common_called(thread, 0, size_bytes);
  __atomic_store_n(entry, 0, __ATOMIC_RELEASE);
  count->kinds[kind].frees[temporary]++;
  gauges_subtract_calmly(count, kind, size_bytes);
  if (many_threads) {
    count_entry_touch(count_entry_at(count, site));
    count_entry_free(count_entry_at(count, site), size_bytes, temporary);
  } else {
    site_touch(site_at(site));
    site_at(site)->freed = word;
    site_at(site)->temporaries += temporary;
  }
  return true;
}

#endif
