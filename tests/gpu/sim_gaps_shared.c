// Device memory that is refused where one range of addresses holds pools of two devices, mapped one right behind the
// other: each device has its own gap, and it ends where the other's memory begins.
// simulated: 6
// expect direct 2097152 in 2 at @tensors kind device
// expect kind device live 20971520
#define _GNU_SOURCE
#include "c10_report.h"
#include "simulated.h"

enum { MIB = 1 << 20, PART = 2 << 20 };

int main(void) {
  report_call report = report_find();
  void *handle, *block;
  char *range;
  CHECK(hipMemAddressReserve((void **)&range, 64 * MIB, 0, NULL, 0));
  for (int i = 0; i < 10; i++) {
    struct properties about = {1, 0, 1, i >= 4};
    CHECK(hipMemCreate(&handle, PART, &about, 0));
    CHECK(hipMemMap(range + i * PART, PART, 0, handle, 0));
    CHECK(hipMemRelease(handle));
  }
  for (int i = 0; i < 2 && report; i++)
    report(range + i * 4 * PART, MIB, 0, 0, (struct device){1, (int8_t)i}); // @tensors
  REFUSE(hipMalloc(&block, 1ul << 45));                                     // 7 of 8 MiB
  CHECK(hipSetDevice(1));
  REFUSE(hipMalloc(&block, 1ul << 45)); // 11 of 12
  return 0;
}
