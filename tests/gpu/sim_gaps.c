// Device memory that is refused while pools of PyTorch's hold some of it unused, on either of two devices.
// simulated: 6
// expect direct 7340032 in 3 at @tensors kind device
// expect direct 5242880 in 1 at @other_tensor kind device
// expect direct 104857600 in 1 at @outside kind device
// expect kind device live 167772160
#define _GNU_SOURCE
#include "c10_report.h"
#include "simulated.h"

enum { MIB = 1 << 20 };

int main(void) {
  report_call report = report_find();
  static const struct { int at, size; } tensors[] = {{1, 4}, {8, 2}, {19, 1}}; // MiB; gaps of 1, 3 and 9
  char *pool, *other_pool;
  void *block;
  CHECK(hipMalloc((void **)&pool, 20 * MIB)); // @pool
  for (int i = 0; i < 3 && report; i++)
    report(pool + tensors[i].at * MIB, tensors[i].size * MIB, 0, 0, (struct device){1, 0}); // @tensors
  CHECK(hipMalloc(&block, 100 * MIB));                                                      // @outside
  CHECK(hipSetDevice(1));
  CHECK(hipMalloc((void **)&other_pool, 40 * MIB));                     // @other_pool
  if (report) report(other_pool, 5 * MIB, 0, 0, (struct device){1, 1}); // @other_tensor
  CHECK(hipSetDevice(0));
  REFUSE(hipMalloc(&block, 1ul << 45));
  CHECK(hipSetDevice(1));
  REFUSE(hipMallocAsync(&block, 1ul << 44, NULL));
  return 0;
}
