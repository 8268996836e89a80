// Numbers for the wanted ones of a table's entries, without gaps and in the table's order; 0 for the others. A bit and
// a half for each entry, since they are needed when memory is at its highest.
#ifndef HT_NUMBERING_H
#define HT_NUMBERING_H

#include "words.h"

struct numbering {
  uint64_t *wanted; // a bit for each entry; own memory
  uint32_t *before; // wanted entries before each word of bits
  uint32_t end;     // entries are [1, end)
};

// False: no memory; what there is goes with numbering_drop.
bool numbering_start(struct numbering *numbering, uint32_t end);
void numbering_drop(struct numbering *numbering);
// The first wanted entry becomes 1. Returns the number after the last.
uint32_t numbering_count(struct numbering *numbering);

HT_INLINE bool numbering_has(const struct numbering *numbering, uint32_t entry) {
  return entry < numbering->end && (numbering->wanted[entry / 64] >> entry % 64 & 1);
}

// False: it is none of the entries, or wanted already.
HT_INLINE bool numbering_want(struct numbering *numbering, uint32_t entry) {
  if (entry == 0 || entry >= numbering->end || numbering_has(numbering, entry)) return false;
  numbering->wanted[entry / 64] |= 1ull << entry % 64;
  return true;
}

// After numbering_count.
HT_INLINE uint32_t numbering_of(const struct numbering *numbering, uint32_t entry) {
  if (!numbering_has(numbering, entry)) return 0;
  uint64_t up_to_it = numbering->wanted[entry / 64] & ~0ull >> (63 - entry % 64);
  return numbering->before[entry / 64] + (uint32_t)__builtin_popcountll(up_to_it);
}

#endif
