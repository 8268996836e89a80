// Device memory that is refused while a segment of PyTorch's that expands holds some unused: the segment is of many
// handles, mapped one behind the other, and what lies unused across them is one gap. Where nothing is mapped there is
// no memory.
// simulated: 6
// expect direct 5242880 in 2 at @tensors kind device
// expect kind device live 25165824
#define _GNU_SOURCE
#include "c10_report.h"
#include "simulated.h"

enum { MIB = 1 << 20, PART = 2 << 20 };

int main(void) {
  report_call report = report_find();
  struct properties about = {1, 0, 1, 0};
  void *handle, *block;
  char *segment;
  CHECK(hipMemAddressReserve((void **)&segment, 64 * MIB, 0, NULL, 0));
  for (int i = 0; i < 13; i++) {
    if (i == 9) continue; // was given back
    CHECK(hipMemCreate(&handle, PART, &about, 0));
    CHECK(hipMemMap(segment + i * PART, PART, 0, handle, 0));
    CHECK(hipMemRelease(handle));
  }
  for (int i = 0; i < 2 && report; i++)
    report(segment + i * 15 * MIB, (3 - i) * MIB, 0, 0, (struct device){1, 0}); // @tensors
  REFUSE(hipMalloc(&block, 1ul << 45)); // 12 MiB from 3 to 15; 1 to 18, where the hole is; 6 behind it
  return 0;
}
