// Arguments that are not there: the runtime refuses each of these calls, and nothing is read of what the caller did not
// give.
// simulated: 6
// expect none
// expect kind device allocations 1
// expect kind device live 0
#include "simulated.h"

struct extent {
  size_t width, height, depth;
};
int hipMallocPitch(void **, size_t *, size_t, size_t);
int hipMemAllocPitch(void **, size_t *, size_t, size_t, unsigned);
int hipMalloc3D(void *, struct extent);
int hipMallocArray(void **, const void *, size_t, size_t, unsigned);
int hipMalloc3DArray(void **, const void *, struct extent, unsigned);
int hipArrayCreate(void **, const void *);
int hipArray3DCreate(void **, const void *);
int hipMallocMipmappedArray(void **, const void *, struct extent, unsigned, unsigned);
int hipMipmappedArrayCreate(void **, const void *, unsigned);
int hipGraphAddNode(void **, void *, void *const *, size_t, void *);

int main(void) {
  struct extent extent = {16, 16, 16};
  void *made, *graph;
  size_t pitch;
  REFUSE(hipMalloc(NULL, 4096));
  REFUSE(hipHostMalloc(NULL, 4096, 0));
  REFUSE(hipMallocManaged(NULL, 4096, 1));
  REFUSE(hipMallocPitch(&made, NULL, 100, 100));
  REFUSE(hipMallocPitch(NULL, &pitch, 100, 100));
  REFUSE(hipMemAllocPitch(NULL, NULL, 100, 100, 4));
  REFUSE(hipMalloc3D(NULL, extent));
  REFUSE(hipMallocArray(&made, NULL, 16, 16, 0));
  REFUSE(hipMalloc3DArray(&made, NULL, extent, 0));
  REFUSE(hipArrayCreate(&made, NULL));
  REFUSE(hipArray3DCreate(&made, NULL));
  REFUSE(hipMallocMipmappedArray(&made, NULL, extent, 3, 0));
  REFUSE(hipMipmappedArrayCreate(&made, NULL, 3));
  REFUSE(hipMallocAsync(NULL, 4096, NULL));
  REFUSE(hipMallocFromPoolAsync(NULL, 4096, NULL, NULL));
  REFUSE(hipMemPoolCreate(&made, NULL));
  REFUSE(hipMemCreate(&made, 2 << 20, NULL, 0));
  CHECK(hipGraphCreate(&graph, 0));
  REFUSE(hipGraphAddMemAllocNode(&made, graph, NULL, 0, NULL));
  REFUSE(hipGraphAddNode(&made, graph, NULL, 0, NULL));
  CHECK(hipMalloc(&made, 4096));
  CHECK(hipFree(made));
  return 0;
}
