#include "numbering.h"

#include "sys.h"

static size_t words_of(uint32_t end) { return (size_t)end / 64 + 1; }

bool numbering_start(struct numbering *numbering, uint32_t end) {
  *numbering = (struct numbering){.end = end};
  numbering->wanted = sys_map(words_of(end) * sizeof *numbering->wanted);
  numbering->before = sys_map(words_of(end) * sizeof *numbering->before);
  return numbering->wanted && numbering->before;
}

void numbering_drop(struct numbering *numbering) {
  if (numbering->wanted) sys_unmap(numbering->wanted, words_of(numbering->end) * sizeof *numbering->wanted);
  if (numbering->before) sys_unmap(numbering->before, words_of(numbering->end) * sizeof *numbering->before);
  *numbering = (struct numbering){0};
}

uint32_t numbering_count(struct numbering *numbering) {
  uint32_t count = 0;
  for (size_t i = 0; i < words_of(numbering->end); i++) {
    numbering->before[i] = count;
    count += (uint32_t)__builtin_popcountll(numbering->wanted[i]);
  }
  return count + 1;
}
