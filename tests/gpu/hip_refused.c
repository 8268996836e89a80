// The functions of HIP 5.2.3 that allocate or free and that refuse to work here: above the stand-in for the driver
// (sharing with other processes, graphics), or everywhere (mipmaps, mappings: not on Linux before later releases).
// Nothing is recorded of a call that failed, nor of one that succeeds without an address.
// build: -lamdhip64
// expect direct 4096 in 1 at @block kind device
// expect kind device live 4096
// expect kind device allocations 1
// expect kind pinned allocations 0
#include "hip.h"
#include <string.h>

static void *const mark = (void *)0x1234;

static void mipmaps(void) {
  hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};
  HIP_ARRAY3D_DESCRIPTOR flat = {.Width = 64, .Height = 32, .Format = HIP_AD_FORMAT_FLOAT, .NumChannels = 1};
  hipMipmappedArray_t array = mark;
  REFUSE(hipMallocMipmappedArray(&array, &floats, make_hipExtent(64, 32, 0), 3, 0));
  array = mark;
  REFUSE(hipMipmappedArrayCreate(&array, &flat, 3));
  REFUSE(hipFreeMipmappedArray(NULL));
  REFUSE(hipMipmappedArrayDestroy(NULL));
}

static void mappings(void *block) {
  hipMemGenericAllocationHandle_t handle = mark;
  int file = -1;
  void *range = mark;
  CHECK(hipMemAddressReserve(&range, 2 << 20, 0, 0, 0));
  if (range != mark) told("range", __LINE__, 1);
  REFUSE(hipMemMap(NULL, 2 << 20, 0, handle, 0));
  REFUSE(hipMemUnmap(NULL, 2 << 20));
  REFUSE(hipMemAddressFree(NULL, 2 << 20));
  REFUSE(hipMemRetainAllocationHandle(&handle, block));
  REFUSE(hipMemImportFromShareableHandle(&handle, &file, hipMemHandleTypePosixFileDescriptor));
  REFUSE(hipMemRelease(NULL));
}

static void other_processes(void *block) {
  hipIpcMemHandle_t handle = {0};
  void *opened = mark;
  REFUSE(hipIpcGetMemHandle(&handle, block));
  REFUSE(hipIpcOpenMemHandle(&opened, handle, 0));
  REFUSE(hipIpcCloseMemHandle(block));
}

static void graphics(void) {
  hipExternalMemoryHandleDesc about = {.type = hipExternalMemoryHandleTypeOpaqueFd, .handle = {-1}, .size = 4096};
  hipExternalMemoryBufferDesc part = {.size = 4096};
  hipExternalMemory_t memory = mark;
  hipGraphicsResource_t resource = mark;
  void *buffer = mark;
  REFUSE(hipImportExternalMemory(&memory, &about));
  REFUSE(hipExternalMemoryGetMappedBuffer(&buffer, NULL, &part));
  REFUSE(hipDestroyExternalMemory(NULL));
  REFUSE(hipGraphicsMapResources(0, &resource, 0));
  REFUSE(hipGraphicsUnmapResources(0, &resource, 0));
}

int main(void) {
  void *block;
  CHECK(hipMalloc(&block, 4096)); // @block
  mipmaps();
  mappings(block);
  other_processes(block);
  graphics();
  CHECK(hipGraphicsUnregisterResource(NULL)); // frees a resource, and there is none
  return 0;
}
