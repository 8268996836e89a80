// As sim_vmm.c with ROCm 7, where looking a handle up adds a reference to it.
// simulated: 7
// expect direct 4194304 in 1 at @never_released kind device
// expect direct 6291456 in 1 at @still_mapped kind device
// expect kind device live 10485760
// expect kind device peak 18874368
#include "simulated.h"

#define MIB (1ul << 20)

int main(void) {
  struct properties about = {.type = 1};
  void *range, *gone, *handle, *looked_up;
  CHECK(hipMemAddressReserve(&range, 1ul << 30, 0, NULL, 0));
  CHECK(hipMemCreate(&gone, 8 * MIB, &about, 0));
  CHECK(hipMemMap(range, 8 * MIB, 0, gone, 0));
  CHECK(hipMemRelease(gone));                       // the mapping holds it
  CHECK(hipMemCreate(&handle, 6 * MIB, &about, 0)); // @still_mapped
  CHECK(hipMemMap((char *)range + 8 * MIB, 6 * MIB, 0, handle, 0));
  CHECK(hipMemRetainAllocationHandle(&looked_up, (char *)range + 8 * MIB));
  CHECK(hipMemRelease(handle));
  CHECK(hipMemRelease(looked_up));
  CHECK(hipMemCreate(&handle, 4 * MIB, &about, 0)); // @never_released
  CHECK(hipMemMap((char *)range + 14 * MIB, 4 * MIB, 0, handle, 0));
  CHECK(hipMemUnmap((char *)range + 14 * MIB, 4 * MIB));
  CHECK(hipMemUnmap(range, 8 * MIB)); // the first one goes here
  REFUSE(hipMemUnmap(range, 8 * MIB));
  REFUSE(hipMemCreate(&handle, 5000, &about, 0));
  return 0;
}
