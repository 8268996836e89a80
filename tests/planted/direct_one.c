// One block lost.
// expect direct 40 in 1 at @lost
// expect stack @lost block_lose < main
// expect allocations 1
// expect frees 0
// expect live 40
// expect peak 40
#include "planted.h"

static __attribute__((noinline)) void block_lose(void) {
  *(volatile char *)malloc(40) = 1; // @lost
}

int main(void) {
  block_lose();
  stack_scrub();
  return 0;
}
