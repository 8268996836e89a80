// Blocks of many sizes lost at one line, and as many freed at another.
// expect direct 500500 in 1000 at @lost
// expect allocations 2000
// expect frees 1000
// expect temporaries 1000
// expect live 500500
#include "planted.h"

static __attribute__((noinline)) void round_do(size_t bytes) {
  *(volatile char *)malloc(bytes) = 1; // @lost
  free(malloc(bytes));                 // @freed
}

int main(void) {
  for (size_t bytes = 1; bytes <= 1000; bytes++) round_do(bytes);
  stack_scrub();
  return 0;
}
