// A pool's block that ends while PyTorch's tensors are in it, time and again at one address: by a reset of its
// device, and by a free. Its tensors end with it, and those of the next block count once.
// simulated: 6
// expect direct 4194304 in 1 at @first kind device
// expect direct 6291456 in 1 at @second kind device
// expect kind device allocations 12
// expect kind device live 20971520
// expect kind device peak 20971520
// expect hotspot @pool allocations 4 bytes 83886080
#define _GNU_SOURCE
#include "c10_report.h"
#include "simulated.h"

enum { MIB = 1 << 20 };

int main(void) {
  struct device gpu = {1, 0};
  report_call report = report_find();
  for (int round = 0; round < 4; round++) {
    char *pool;
    CHECK(hipMalloc((void **)&pool, 20 * MIB)); // @pool
    if (report) {
      report(pool, 4 * MIB, 0, 0, gpu);           // @first
      report(pool + 4 * MIB, 6 * MIB, 0, 0, gpu); // @second
    }
    if (round < 2) CHECK(hipDeviceReset());
    if (round == 2) CHECK(hipFree(pool));
  }
  return 0;
}
