// Two devices in turn, the second always right after the first: both drivers are asked. What the last answers say is
// what was live before the last allocation on each.
// simulated: 6
#include "simulated.h"

int main(void) {
  void *block;
  for (int i = 0; i < 5; i++) {
    CHECK(hipSetDevice(0));
    CHECK(hipMalloc(&block, 1 << 20));
    CHECK(hipSetDevice(1));
    CHECK(hipMalloc(&block, 4 << 20));
    usleep(20000); // longer than the drivers are left alone
  }
  return 0;
}
