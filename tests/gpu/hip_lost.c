// Device and pinned blocks lost in named functions; the nested calls of the runtime count once, a refused free leaves
// its block, what is freed is gone.
// build: -lamdhip64
// expect direct 5242880 in 5 at @device kind device
// expect direct 196608 in 3 at @pinned kind pinned
// expect direct 12288 in 1 at @managed kind managed
// expect direct 4096 in 1 at @nested kind pinned
// expect direct 65536 in 1 at @refused kind device
// expect stack @device lose_device < main
// expect stack @pinned lose_pinned < main
// expect kind device live 5308416
// expect kind device allocations 8
// expect kind pinned allocations 4
// expect kind managed allocations 1
#include "hip.h"

static NOINLINE void lose_device(void) {
  void *block;
  CHECK(hipMalloc(&block, 1 << 20)); // @device
}

static NOINLINE void lose_pinned(void) {
  void *block;
  CHECK(hipHostMalloc(&block, 65536, 0)); // @pinned
}

int main(void) {
  void *block, *kept;
  for (int i = 0; i < 5; i++) lose_device();
  for (int i = 0; i < 3; i++) lose_pinned();
  CHECK(hipMallocManaged(&block, 12288, 1)); // @managed
  CHECK(hipMemAllocHost(&block, 4096));      // @nested
  CHECK(hipMalloc(&kept, 65536));            // @refused
  REFUSE(hipFree((void *)0x1234));
  REFUSE(hipHostFree((void *)0x1234));
  void *untouched = (void *)0x1234;
  REFUSE(hipMalloc(&untouched, 1ull << 45)); // @too_much
  if (untouched != (void *)0x1234 && untouched) return 3;
  CHECK(hipFree(0));
  CHECK(hipMalloc(&block, 0));
  for (int i = 0; i < 2; i++) {
    CHECK(hipMalloc(&block, 100000));
    CHECK(hipFree(block));
  }
  return 0;
}
