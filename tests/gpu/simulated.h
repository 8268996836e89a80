// Prototypes of HIP functions that Debian's headers do not have, and the checks of hip.h.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct properties {
  int type, handle_type, location_type, device;
  char rest[16];
};
struct pool_properties {
  int type, handle_types, location_type, device;
  char rest[72];
};
struct alloc_node {
  struct pool_properties pool;
  const void *access;
  size_t access_count, bytes;
  void *pointer;
};
struct ipc_handle {
  char bytes[64];
};

int hipMalloc(void **, size_t);
int hipFree(void *);
int hipHostMalloc(void **, size_t, unsigned);
int hipHostFree(void *);
int hipMallocManaged(void **, size_t, unsigned);
int hipMallocAsync(void **, size_t, void *);
int hipMallocFromPoolAsync(void **, size_t, void *, void *);
int hipFreeAsync(void *, void *);
int hipMemPoolCreate(void **, const struct pool_properties *);
int hipMemPoolDestroy(void *);
int hipStreamCreate(void **);
int hipStreamDestroy(void *);
int hipStreamBeginCapture(void *, int);
int hipStreamEndCapture(void *, void **);
int hipDeviceReset(void);
int hipDeviceSynchronize(void);
int hipSetDevice(int);
int hipMemAddressReserve(void **, size_t, size_t, void *, unsigned long long);
int hipMemAddressFree(void *, size_t);
int hipMemCreate(void **, size_t, const void *, unsigned long long);
int hipMemRelease(void *);
int hipMemRetainAllocationHandle(void **, void *);
int hipMemMap(void *, size_t, size_t, void *, unsigned long long);
int hipMemUnmap(void *, size_t);
int hipIpcGetMemHandle(struct ipc_handle *, void *);
int hipIpcOpenMemHandle(void **, struct ipc_handle, unsigned);
int hipIpcCloseMemHandle(void *);
int hipGraphCreate(void **, unsigned);
int hipGraphDestroy(void *);
int hipGraphAddMemAllocNode(void **, void *, void *const *, size_t, struct alloc_node *);
int hipGraphAddMemFreeNode(void **, void *, void *const *, size_t, void *);
int hipGraphInstantiate(void **, void *, void **, char *, size_t);
int hipGraphExecDestroy(void *);
int hipGetProcAddress(const char *, void **, int, uint64_t, int *);
int hipGetDevicePropertiesR0600(void *, int);

static NOINLINE void told(const char *call, int line, int status) {
  printf("line %d: %s: %d\n", line, call, status);
  fflush(stdout);
  _exit(99);
}
#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    int status_of_call = (int)(call);                                                                                  \
    if (status_of_call) told(#call, __LINE__, status_of_call);                                                         \
  } while (0)
#define REFUSE(call)                                                                                                   \
  do {                                                                                                                 \
    if ((int)(call) == 0) told(#call, __LINE__, 0);                                                                    \
  } while (0)
