// The counters of a site: 32-bit words of calls and bytes, which are carried into counters of 64 bits before they are
// full. Nearly all of many sites never come to that, and those that do come rarely.
//
//   word   31...........21   20..................0
//          calls             bytes                   the upper bit of either set: full
//
// With several threads the caller holds the site's spin bit (count.c).
#ifndef HT_SITE_COUNTERS_H
#define HT_SITE_COUNTERS_H

#include "site.h"

#define SITE_CALL (1u << 21)             // one call in a word
#define SITE_BYTES_MOST ((1u << 20) - 1) // of one call that a word has room for
#define SITE_CALLS_MOST ((1u << 10) - 1) // of a word that is not full
#define SITE_WORD_FULL (1u << 31 | 1u << 20)

// What the words were carried into.
struct site_wide {
  uint64_t allocations, frees, temporaries, allocated_bytes, freed_bytes;
  int64_t peak_bytes, peak_blocks; // live of these counters before the first change in `epoch`
  uint32_t epoch;
};

// What is added to a site at once. Differences may be below 0, as sums of 64 bits have it.
struct site_change {
  uint64_t allocations, frees, temporaries, allocated_bytes, freed_bytes;
  int64_t peak_bytes, peak_blocks; // to what it held at the peak
};

bool site_counters_init(uint32_t sites_max);
void site_counters_shrink_locked(uint32_t sites_max, uint32_t kept);
// NULL: nothing was carried yet.
const struct site_wide *site_wide(site_id id);
// Carries the words of `site`, one of which is full. It was touched (count.h).
void site_carry(struct site *site);
// Adds any amounts. The site was touched.
void site_add(struct site *site, const struct site_change *change);

HT_INLINE bool site_word_has_room(uint32_t word, size_t size_bytes) {
  return size_bytes <= SITE_BYTES_MOST && !((word + SITE_CALL + size_bytes) & SITE_WORD_FULL);
}

// Of a word, or of the difference of two.
HT_INLINE int64_t site_word_bytes(uint32_t word) { return (int32_t)(word << 11) >> 11; }
HT_INLINE int64_t site_word_calls(uint32_t word) { return (int32_t)(word - (uint32_t)site_word_bytes(word)) >> 21; }

#endif
