// Blocks held only by a pointer to their inside: first byte, middle, last byte, and one with a tag in its low bits.
// expect none
// expect live 1000
#include "planted.h"

static char *first, *middle, *last;
static uintptr_t tagged;

int main(void) {
  first = malloc(100);
  middle = (char *)malloc(300) + 150;
  last = (char *)malloc(500) + 499;
  tagged = (uintptr_t)malloc(100) | 3;
  stack_scrub();
  return 0;
}
