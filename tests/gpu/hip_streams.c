// Two streams with bytes of their own; the blocks of each are freed on the other. For the test's timeline the program
// says when it changes something.
// build: -lamdhip64
#include "hip.h"

int main(void) {
  hipStream_t one, two;
  hipMemPool_t pool;
  void *of_one[3], *of_two[2];
  CHECK(hipStreamCreate(&one));
  CHECK(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
  for (int i = 0; i < 3; i++) CHECK(hipMallocAsync(&of_one[i], 1 << 20, one));
  usleep(300000);
  for (int i = 0; i < 2; i++) CHECK(hipMallocAsync(&of_two[i], 5 << 20, two));
  usleep(300000);
  for (int i = 0; i < 3; i++) CHECK(hipFreeAsync(of_one[i], two));
  usleep(300000);
  CHECK(hipFreeAsync(of_two[0], one));
  usleep(300000);
  CHECK(hipMallocAsync(&of_one[0], 4096, one));
  CHECK(hipDeviceSynchronize());
  CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
  CHECK(hipMemPoolTrimTo(pool, 0));
  return 0;
}
