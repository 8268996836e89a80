// What HIP 5.2.3 hands out by handles: physical memory, pools, memory of another interface (a file stands for it). Each
// once given back and once lost; the library's own pool functions for other processes succeed and do nothing, and
// nothing is made of what stood in their place.
// build: -lamdhip64
// expect direct 2097152 in 1 at @created kind device
// expect direct 3145728 in 1 at @of_pool kind device
// expect direct 1048576 in 1 at @not_imported kind device
// expect direct 0 in 1 at @external kind device
// expect direct 0 in 1 at @mapped kind device
// expect kind device live 6291456
// expect kind device allocations 8
#define _GNU_SOURCE
#include "hip.h"
#include <string.h>
#include <sys/mman.h>

static void physical(void) {
  hipMemAllocationProp about = {.type = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
  hipMemGenericAllocationHandle_t handle;
  for (int i = 0; i < 2; i++) {
    CHECK(hipMemCreate(&handle, 2 << 20, &about, 0)); // @created
    if (i == 0) CHECK(hipMemRelease(handle));
  }
}

static void pools(void) {
  hipMemPoolProps about = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}};
  hipMemPool_t pool, other;
  hipMemPoolPtrExportData pointer;
  void *block, *imported;
  int file = -1;
  CHECK(hipMemPoolCreate(&pool, &about));
  for (int i = 0; i < 2; i++) {
    CHECK(hipMallocFromPoolAsync(&block, 3 << 20, pool, 0)); // @of_pool
    if (i == 0) CHECK(hipFreeAsync(block, 0));
  }
  CHECK(hipMemPoolExportToShareableHandle(&file, pool, hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemPoolExportPointer(&pointer, block));
  CHECK(hipMalloc(&imported, 1 << 20)); // @not_imported
  void *kept = imported;
  other = kept;
  CHECK(hipMemPoolImportFromShareableHandle(&other, &file, hipMemHandleTypePosixFileDescriptor, 0));
  CHECK(hipMemPoolImportPointer(&imported, pool, &pointer));
  if (other != kept || imported != kept) told("import", __LINE__, 1);
  CHECK(hipMemPoolDestroy(pool)); // its block stays
}

static void external(void) {
  hipExternalMemoryHandleDesc about = {.type = hipExternalMemoryHandleTypeOpaqueFd, .size = 65536};
  hipExternalMemoryBufferDesc part = {.offset = 0, .size = 65536};
  hipExternalMemory_t memory;
  void *buffer;
  about.handle.fd = memfd_create("shared", 0);
  if (ftruncate(about.handle.fd, 65536)) told("ftruncate", __LINE__, 1);
  for (int i = 0; i < 2; i++) {
    CHECK(hipImportExternalMemory(&memory, &about)); // @external
    if (i == 0) CHECK(hipDestroyExternalMemory(memory));
  }
  CHECK(hipExternalMemoryGetMappedBuffer(&buffer, memory, &part)); // @mapped
}

int main(void) {
  physical();
  pools();
  external();
  return 0;
}
