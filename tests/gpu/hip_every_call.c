// Every function of HIP 5.2.3 that allocates, each freed by one that may free it; then each once more and lost.
// build: -lamdhip64
// expect direct 1000000 in 1 at @malloc kind device
// expect direct 2000000 in 1 at @extended kind device
// expect direct 30720 in 1 at @pitch kind device
// expect direct 40960 in 1 at @driver_pitch kind device
// expect direct 245760 in 1 at @cube kind device
// expect direct 50000 in 1 at @host kind pinned
// expect direct 60000 in 1 at @host_alloc kind pinned
// expect direct 70000 in 1 at @malloc_host kind pinned
// expect direct 80000 in 1 at @mem_alloc_host kind pinned
// expect direct 90112 in 1 at @managed kind managed
// expect direct 0 in 1 at @registered kind pinned
// expect direct 4096 in 1 at @array kind device
// expect direct 32768 in 1 at @array_cube kind device
// expect direct 16384 in 1 at @driver_array kind device
// expect direct 65536 in 1 at @driver_array_cube kind device
// expect direct 1048576 in 1 at @async kind device
// expect direct 2097152 in 1 at @from_pool kind device
#include "hip.h"

static char pages[3 * 4096];

static hipStream_t stream;
static hipMemPool_t pool;

static NOINLINE void make(void *made[17]) {
  size_t pitch;
  hipPitchedPtr cube;
  hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};
  HIP_ARRAY_DESCRIPTOR flat = {.Width = 64, .Height = 32, .Format = HIP_AD_FORMAT_HALF, .NumChannels = 4};
  HIP_ARRAY3D_DESCRIPTOR deep = {
      .Width = 64, .Height = 32, .Depth = 8, .Format = HIP_AD_FORMAT_FLOAT, .NumChannels = 1};
  char *page = (char *)(((size_t)pages + 4095) & ~4095ul);
  CHECK(hipMalloc(&made[0], 1000000));                // @malloc
  CHECK(hipExtMallocWithFlags(&made[1], 2000000, 0)); // @extended
  CHECK(hipMallocPitch(&made[2], &pitch, 1000, 30));  // @pitch
  if (pitch != 1024) told("pitch", __LINE__, (int)pitch);
  CHECK(hipMemAllocPitch((hipDeviceptr_t *)&made[3], &pitch, 1000, 40, 4)); // @driver_pitch
  CHECK(hipMalloc3D(&cube, make_hipExtent(1000, 30, 8)));                   // @cube
  made[4] = cube.ptr;
  CHECK(hipHostMalloc(&made[5], 50000, 0));    // @host
  CHECK(hipHostAlloc(&made[6], 60000, 0));     // @host_alloc
  CHECK(hipMallocHost(&made[7], 70000));       // @malloc_host
  CHECK(hipMemAllocHost(&made[8], 80000));     // @mem_alloc_host
  CHECK(hipMallocManaged(&made[9], 90112, 1)); // @managed
  CHECK(hipHostRegister(page, 4096, 0));       // @registered
  made[10] = page;
  CHECK(hipMallocArray((hipArray **)&made[11], &floats, 64, 16, 0));                      // @array
  CHECK(hipMalloc3DArray((hipArray **)&made[12], &floats, make_hipExtent(64, 16, 8), 0)); // @array_cube
  CHECK(hipArrayCreate((hipArray **)&made[13], &flat));                                   // @driver_array
  CHECK(hipArray3DCreate((hipArray **)&made[14], &deep));                                 // @driver_array_cube
  CHECK(hipMallocAsync(&made[15], 1 << 20, stream));                                      // @async
  CHECK(hipMallocFromPoolAsync(&made[16], 2 << 20, pool, stream));                        // @from_pool
}

int main(void) {
  void *made[17];
  CHECK(hipStreamCreate(&stream));
  CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
  CHECK(hipDeviceGetMemPool(&pool, 0)); // the same one
  make(made);
  for (int i = 0; i < 5; i++) CHECK(hipFree(made[i]));
  CHECK(hipHostFree(made[5]));
  CHECK(hipFreeHost(made[6]));
  CHECK(hipFreeHost(made[7]));
  CHECK(hipHostFree(made[8]));
  CHECK(hipFree(made[9]));
  CHECK(hipHostUnregister(made[10]));
  CHECK(hipFreeArray(made[11]));
  CHECK(hipFreeArray(made[12]));
  CHECK(hipArrayDestroy(made[13]));
  CHECK(hipArrayDestroy(made[14]));
  CHECK(hipFreeAsync(made[15], stream));
  CHECK(hipFreeAsync(made[16], stream));
  CHECK(hipStreamSynchronize(stream));
  make(made);
  return 0;
}
