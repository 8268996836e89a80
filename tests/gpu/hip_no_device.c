// With the real library and no GPU every call fails, and leaves its pointer alone. Prints each with its status.
// build: -lamdhip64
#include "hip.h"

static void *const mark = (void *)0x1234;
static int wrong;

#define TELL(name, ...)                                                                                                \
  do {                                                                                                                 \
    printf("%s %d\n", #name, (int)name(__VA_ARGS__));                                                                  \
    wrong |= out != mark;                                                                                              \
  } while (0)

int main(void) {
  void *out = mark, *block = mark;
  int file = -1;
  size_t pitch = 0;
  hipPitchedPtr cube = {mark};
  hipChannelFormatDesc floats = {32, 0, 0, 0, hipChannelFormatKindFloat};
  HIP_ARRAY_DESCRIPTOR flat = {.Width = 64, .Height = 32, .Format = HIP_AD_FORMAT_HALF, .NumChannels = 4};
  HIP_ARRAY3D_DESCRIPTOR deep = {
      .Width = 64, .Height = 32, .Depth = 8, .Format = HIP_AD_FORMAT_FLOAT, .NumChannels = 1};
  hipMemPoolProps pool = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
  hipMemAllocationProp physical = {.type = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
  hipIpcMemHandle_t ipc = {0};
  hipExternalMemoryHandleDesc external = {.type = hipExternalMemoryHandleTypeOpaqueFd, .size = 4096};
  hipExternalMemoryBufferDesc mapped = {.size = 4096};
  hipGraphicsResource_t resource = NULL;
  static char page[8192];
  TELL(hipMalloc, &out, 4096);
  TELL(hipExtMallocWithFlags, &out, 4096, 0);
  TELL(hipMallocManaged, &out, 4096, 1);
  TELL(hipMallocPitch, &out, &pitch, 1000, 30);
  TELL(hipMemAllocPitch, (hipDeviceptr_t *)&out, &pitch, 1000, 30, 4);
  TELL(hipMalloc3D, &cube, make_hipExtent(1000, 30, 8));
  TELL(hipHostMalloc, &out, 4096, 0);
  TELL(hipHostAlloc, &out, 4096, 0);
  TELL(hipMallocHost, &out, 4096);
  TELL(hipMemAllocHost, &out, 4096);
  TELL(hipHostRegister, page, 4096, 0);
  TELL(hipMallocArray, (hipArray **)&out, &floats, 64, 16, 0);
  TELL(hipMalloc3DArray, (hipArray **)&out, &floats, make_hipExtent(64, 16, 8), 0);
  TELL(hipArrayCreate, (hipArray **)&out, &flat);
  TELL(hipArray3DCreate, (hipArray **)&out, &deep);
  TELL(hipMallocMipmappedArray, (hipMipmappedArray_t *)&out, &floats, make_hipExtent(64, 16, 0), 3, 0);
  TELL(hipMipmappedArrayCreate, (hipMipmappedArray_t *)&out, &deep, 3);
  TELL(hipMallocAsync, &out, 4096, 0);
  TELL(hipMallocFromPoolAsync, &out, 4096, NULL, 0);
  TELL(hipMemPoolCreate, (hipMemPool_t *)&out, &pool);
  TELL(hipDeviceGetDefaultMemPool, (hipMemPool_t *)&out, 0);
  TELL(hipDeviceGetMemPool, (hipMemPool_t *)&out, 0);
  TELL(hipMemPoolImportFromShareableHandle, (hipMemPool_t *)&out, &file, hipMemHandleTypePosixFileDescriptor, 0);
  TELL(hipMemPoolImportPointer, &out, NULL, NULL);
  TELL(hipMemAddressReserve, &out, 2 << 20, 0, 0, 0);
  TELL(hipMemCreate, (hipMemGenericAllocationHandle_t *)&out, 2 << 20, &physical, 0);
  TELL(hipMemMap, block, 4096, 0, NULL, 0);
  TELL(hipMemUnmap, block, 4096);
  TELL(hipMemImportFromShareableHandle, (hipMemGenericAllocationHandle_t *)&out, &file,
       hipMemHandleTypePosixFileDescriptor);
  TELL(hipMemRetainAllocationHandle, (hipMemGenericAllocationHandle_t *)&out, block);
  TELL(hipIpcOpenMemHandle, &out, ipc, 0);
  TELL(hipImportExternalMemory, (hipExternalMemory_t *)&out, &external);
  TELL(hipStreamCreate, (hipStream_t *)&out);
  TELL(hipFree, block);
  TELL(hipHostFree, block);
  TELL(hipFreeHost, block);
  TELL(hipHostUnregister, page);
  TELL(hipFreeArray, block);
  TELL(hipArrayDestroy, block);
  TELL(hipFreeMipmappedArray, block);
  TELL(hipMipmappedArrayDestroy, block);
  TELL(hipFreeAsync, block, 0);
  TELL(hipMemPoolDestroy, block);
  TELL(hipMemRelease, block);
  TELL(hipMemAddressFree, block, 4096);
  TELL(hipIpcCloseMemHandle, block);
  TELL(hipDestroyExternalMemory, block);
  TELL(hipExternalMemoryGetMappedBuffer, &out, block, &mapped);
  TELL(hipGraphicsMapResources, 1, &resource, 0);
  TELL(hipGraphicsUnmapResources, 1, &resource, 0);
  TELL(hipGraphicsUnregisterResource, resource);
  return wrong || cube.ptr != mark;
}
