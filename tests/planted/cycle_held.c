// A cycle that a global reaches is no leak.
// expect none
// expect live 80
#include "planted.h"

static void **held;

int main(void) {
  void **other = calloc(1, 40);
  held = calloc(1, 40);
  held[0] = other;
  other[0] = held;
  stack_scrub();
  return 0;
}
