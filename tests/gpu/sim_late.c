// Given back after main has returned: neither leaked nor live, and told apart.
// simulated: 6
// expect none
#include "simulated.h"

static void *kept;

static __attribute__((destructor)) void give_back(void) { hipFree(kept); }

int main(void) {
  CHECK(hipMalloc(&kept, 123456));
  return 0;
}
