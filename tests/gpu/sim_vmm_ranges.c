// One call that ends several mappings: side by side, with holes between them, with its beginning in a hole.
// simulated: 6
// expect direct 2097152 in 1 at @beyond kind device
// expect kind device live 2097152
// expect kind device allocations 9
#include "simulated.h"

#define MIB (1ul << 20)

static struct properties about = {.type = 1};

static NOINLINE void map(char *at) {
  void *handle;
  CHECK(hipMemCreate(&handle, 2 * MIB, &about, 0)); // @beyond
  CHECK(hipMemMap(at, 2 * MIB, 0, handle, 0));
  CHECK(hipMemRelease(handle));
}

int main(void) {
  char *range;
  CHECK(hipMemAddressReserve((void **)&range, 1ul << 30, 0, NULL, 0));
  for (int i = 0; i < 4; i++) map(range + i * 2 * MIB);
  CHECK(hipMemUnmap(range, 8 * MIB));
  map(range);
  map(range + 2 * MIB);
  map(range + 6 * MIB); // behind a hole
  CHECK(hipMemUnmap(range, 8 * MIB));
  map(range + 4 * MIB);
  map(range + 8 * MIB);               // behind what is unmapped
  CHECK(hipMemUnmap(range, 8 * MIB)); // begins in a hole
  return 0;
}
