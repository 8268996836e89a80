// What the hooks need to know of HIP's binary interface, written down once: no HIP header is needed to build heaptide.
// Source: hip_runtime_api.h and driver_types.h of ROCm 5.0 to 7.2; where releases differ it says so.
#ifndef HT_HIP_ABI_H
#define HT_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int hip_status; // hipError_t

#define HIP_SUCCESS 0
#define HIP_OUT_OF_MEMORY 2         // hipErrorOutOfMemory
#define HIP_DEINITIALIZED 4         // hipErrorDeinitialized: the runtime has torn itself down
#define HIP_NO_DEVICE 100           // hipErrorNoDevice
#define HIP_NOT_SUPPORTED 801       // hipErrorNotSupported
#define HIP_CAPTURE_INVALIDATED 901 // hipErrorStreamCaptureInvalidated

// Stream handles that are no pointers (hip_runtime_api.h: hipStreamLegacy from 6.2, hipStreamPerThread).
#define HIP_STREAM_NULL 0
#define HIP_STREAM_LEGACY 1
#define HIP_STREAM_PER_THREAD 2

#define HIP_EXT_SIGNAL_MEMORY 2u // hipExtMallocWithFlags: hipMallocSignalMemory, which lies in host memory

struct hip_extent {
  size_t width, height, depth; // width in bytes for linear memory, in texels for arrays
};

struct hip_pitched_pointer {
  void *pointer;
  size_t pitch, xsize, ysize;
};

struct hip_channel_format {
  int bits[4]; // x, y, z, w
  int kind;
};

struct hip_array_descriptor {
  size_t width, height;
  int format; // hipArray_Format
  unsigned channels;
};

struct hip_array3d_descriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct hip_ipc_handle {
  char bytes[64]; // passed by value
};

struct hip_external_memory {
  int type;
  char handle[16]; // offset 8
  unsigned long long size_bytes;
  unsigned flags;
};
_Static_assert(offsetof(struct hip_external_memory, size_bytes) == 24, "hipExternalMemoryHandleDesc");

// hipMemPoolProps.
struct hip_pool_properties {
  int type, handle_types;
  int location_type, device;
};

// hipMemAllocNodeParams.
struct hip_alloc_node {
  struct hip_pool_properties pool;
  char rest_of_pool[88 - sizeof(struct hip_pool_properties)];
  const void *access;
  size_t access_count;
  size_t size_bytes;
  void *pointer;
};
_Static_assert(offsetof(struct hip_alloc_node, size_bytes) == 104, "hipMemAllocNodeParams");

// hipGraphNodeParams.
struct hip_node_parameters {
  int type;
  int reserved[3];
  union {
    struct hip_alloc_node alloc;
    void *free_pointer;
  };
};
#define HIP_NODE_ALLOC 10 // hipGraphNodeTypeMemAlloc
#define HIP_NODE_FREE 11

// Where hipDeviceProp_t has totalGlobalMem: with its layout of up to 5.x, which the plain name keeps for ever, and with
// that of 6.0 (hipGetDevicePropertiesR0600).
#define HIP_PROPERTIES_TOTAL 256
#define HIP_PROPERTIES_TOTAL_R0600 288
#define HIP_PROPERTIES_NAME_BYTES 256

// Where hipMemAllocationProp has location.id: up to 5.x behind a byte and the location's type, then behind the type,
// the handle's type and the location's type.
#define HIP_ALLOCATION_DEVICE_5 8
#define HIP_ALLOCATION_DEVICE 12

// hipMemLocationType: from 2 on it is the host, or a NUMA node of it (7.0). hipMemAllocationType.
#define HIP_LOCATION_HOST 2
#define HIP_ALLOCATION_MANAGED 2

#endif
