// Pages of ranges that the leak scan has reached: a further pointer to one of them makes no difference. Programs with
// an allocator of their own in mapped memory (compilers, runtimes) have millions of those.
#ifndef HT_SETTLED_PAGES_H
#define HT_SETTLED_PAGES_H

#include "words.h"

#define SETTLED_PAGES 2048u // power of two; each may push out another
#define SETTLED_SHIFT 12

struct settled_pages {
  uintptr_t numbers[SETTLED_PAGES]; // of pages, by their lower bits; 0: none
};

HT_INLINE bool page_is_settled(const struct settled_pages *pages, uintptr_t address) {
  uintptr_t number = address >> SETTLED_SHIFT;
  return pages->numbers[number % SETTLED_PAGES] == number;
}

HT_INLINE void page_settle(struct settled_pages *pages, uintptr_t address) {
  uintptr_t number = address >> SETTLED_SHIFT;
  pages->numbers[number % SETTLED_PAGES] = number;
}

#endif
