// A stand-in for libamdhip64.so, for what the real runtime above hsakmt/ does not have: newer functions, virtual memory
// management, IPC, graphs, faults on demand. Memory is host memory within a set size of VRAM; nothing is computed.
//
// Environment: SIMHIP_GPUS (1), SIMHIP_VRAM_MB (16384), SIMHIP_FAIL=FUNCTION:N:STATUS (the Nth call of the function
// ends with the status; a comma joins several). Built once for each SONAME, SIMHIP_MAJOR its number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SIMHIP_MAJOR
#define SIMHIP_MAJOR 6
#endif

typedef int status; // hipError_t
enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_CONTEXT = 201,
  NOT_READY = 600,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_REGISTERED = 713,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
};

#define STREAM_LEGACY ((void *)1)
#define STREAM_PER_THREAD ((void *)2)

#define PAGE 4096ul
#define GRANULARITY (2ul << 20)
#define GPUS_MAX 8

// heaptide asks for this name to say in its report that the device is none.
const char heaptide_simulated_device[] = "simhip";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t vram_bytes = 16384ul << 20, vram_used[GPUS_MAX];
static int gpu_count = 1;
static __thread int current;
static __thread status last_error;

__attribute__((constructor)) static void start(void) {
  const char *mib = getenv("SIMHIP_VRAM_MB"), *gpus = getenv("SIMHIP_GPUS");
  if (mib) vram_bytes = strtoull(mib, NULL, 10) << 20;
  if (gpus && atoi(gpus) >= 0 && atoi(gpus) <= GPUS_MAX) gpu_count = atoi(gpus);
}

static status told(status result) {
  if (result) last_error = result;
  return result;
}

// ---- faults on demand

#define FAULTS_MAX 8
static struct fault {
  char function[64];
  int left;
  status result;
} faults[FAULTS_MAX];
static pthread_once_t faults_once = PTHREAD_ONCE_INIT;

static void faults_read(void) {
  const char *at = getenv("SIMHIP_FAIL");
  for (int i = 0; at && *at && i < FAULTS_MAX; i++) {
    if (sscanf(at, "%63[^:]:%d:%d", faults[i].function, &faults[i].left, &faults[i].result) != 3) break;
    at = strchr(at, ',');
    if (at) at++;
  }
}

static status fault_of(const char *function) {
  pthread_once(&faults_once, faults_read);
  for (int i = 0; i < FAULTS_MAX; i++)
    if (strcmp(faults[i].function, function) == 0 && --faults[i].left == 0) return faults[i].result;
  return OK;
}

#define FAIL_ON_DEMAND()                                                                                               \
  do {                                                                                                                 \
    status fault = fault_of(__func__);                                                                                 \
    if (gpu_count == 0) fault = 100;                                                                                   \
    if (fault) return told(fault);                                                                                     \
  } while (0)

// ---- what is there: one table of everything that has a handle or an address

enum what {
  DEVICE = 1,
  PINNED,
  MANAGED,
  POOLED,
  ARRAY,
  MIPMAP,
  RANGE,
  PHYSICAL,
  MAPPING,
  REGISTERED,
  IMPORTED,
  STREAM,
  EVENT,
  POOL,
  GRAPH,
  EXEC,
};
struct thing {
  uintptr_t key;
  uint64_t bytes, span; // span: of VRAM or address space
  enum what what;
  int device, references;
  uintptr_t owner; // pool, handle, graph
  bool capturing;
};
static struct thing *things;
static size_t thing_count, thing_room;
static uintptr_t next_handle = 0x5150000000001000ul; // no address that a program could read

static struct thing *thing_find(uintptr_t key, unsigned mask) {
  for (size_t i = thing_count; i-- > 0;)
    if (things[i].key == key && mask >> things[i].what & 1) return &things[i];
  return NULL;
}

static struct thing *thing_add(struct thing thing) {
  if (thing_count == thing_room) {
    thing_room = thing_room ? 2 * thing_room : 256;
    things = realloc(things, thing_room * sizeof *things);
  }
  things[thing_count] = thing;
  return &things[thing_count++];
}

static void thing_drop(struct thing *thing) { *thing = things[--thing_count]; }

static uintptr_t handle_new(void) { return next_handle += 64; }

static uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

static void *space_map(uint64_t bytes) {
  void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? NULL : address;
}

static bool vram_take(int device, uint64_t bytes) {
  if (bytes > vram_bytes - vram_used[device]) return false;
  vram_used[device] += bytes;
  return true;
}

static status make(void **pointer, uint64_t bytes, enum what what, int device) {
  uint64_t span = rounded(bytes, PAGE);
  bool is_vram = what == DEVICE;
  if (!pointer) return INVALID_VALUE;
  if (!bytes) return *pointer = NULL, OK;
  pthread_mutex_lock(&lock);
  bool fits = bytes < 1ul << 46 && (!is_vram || vram_take(device, span));
  void *address = fits ? space_map(span) : NULL;
  if (fits && !address && is_vram) vram_used[device] -= span;
  if (address)
    thing_add((struct thing){.key = (uintptr_t)address, .bytes = bytes, .span = span, .what = what, .device = device});
  pthread_mutex_unlock(&lock);
  if (!address) return OUT_OF_MEMORY;
  *pointer = address;
  return OK;
}

static status pool_give_locked(struct thing *thing);

static status take(void *pointer, unsigned mask) {
  if (!pointer) return OK;
  pthread_mutex_lock(&lock);
  struct thing *thing = thing_find((uintptr_t)pointer, mask);
  status result = INVALID_VALUE;
  if (thing && thing->what == POOLED) {
    result = pool_give_locked(thing);
  } else if (thing) {
    if (thing->what == DEVICE) vram_used[thing->device] -= thing->span;
    munmap(pointer, thing->span);
    thing_drop(thing);
    result = OK;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

#define ANY_MEMORY (1u << DEVICE | 1u << PINNED | 1u << MANAGED | 1u << POOLED)

// ---- linear memory

status hipMalloc(void **pointer, size_t bytes) {
  FAIL_ON_DEMAND();
  return told(make(pointer, bytes, DEVICE, current));
}
status hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags) {
  FAIL_ON_DEMAND();
  if (flags == 2 && bytes != 8) return told(INVALID_VALUE);
  return told(make(pointer, bytes, flags == 2 ? PINNED : DEVICE, current));
}
status hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  FAIL_ON_DEMAND();
  if (!bytes || (flags != 1 && flags != 2)) return told(INVALID_VALUE);
  return told(make(pointer, bytes, MANAGED, current));
}
status hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  FAIL_ON_DEMAND();
  if (!pointer || !pitch) return told(INVALID_VALUE);
  *pitch = rounded(width, 256);
  return told(make(pointer, *pitch * height, DEVICE, current));
}
status hipMemAllocPitch(void **pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  if (!width || !height || (element != 4 && element != 8 && element != 16)) return told(INVALID_VALUE);
  return hipMallocPitch(pointer, pitch, width, height);
}
struct extent {
  size_t width, height, depth;
};
struct pitched {
  void *pointer;
  size_t pitch, xsize, ysize;
};
status hipMalloc3D(struct pitched *out, struct extent extent) {
  FAIL_ON_DEMAND();
  if (!out) return told(INVALID_VALUE);
  *out = (struct pitched){NULL, rounded(extent.width, 256), extent.width, extent.height};
  return told(make(&out->pointer, out->pitch * extent.height * extent.depth, DEVICE, current));
}
status hipFree(void *pointer) {
  FAIL_ON_DEMAND();
  return told(take(pointer, ANY_MEMORY));
}

static status host_make(void **pointer, size_t bytes) { return told(make(pointer, bytes, PINNED, current)); }
status hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  return host_make(pointer, bytes);
}
status hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  FAIL_ON_DEMAND();
  if (SIMHIP_MAJOR > 6 && flags > 7) return told(INVALID_VALUE);
  return host_make(pointer, bytes);
}
status hipMallocHost(void **pointer, size_t bytes) {
  FAIL_ON_DEMAND();
  return host_make(pointer, bytes);
}
status hipMemAllocHost(void **pointer, size_t bytes) { return hipHostMalloc(pointer, bytes, 0); }
status hipHostFree(void *pointer) {
  FAIL_ON_DEMAND();
  return told(take(pointer, 1u << PINNED));
}
status hipFreeHost(void *pointer) { return hipHostFree(pointer); }
status hipHostGetDevicePointer(void **device, void *host, unsigned flags) {
  (void)flags;
  *device = host;
  return OK;
}

static uintptr_t handle_make(struct thing thing) {
  pthread_mutex_lock(&lock);
  if (!thing.key) thing.key = handle_new();
  thing_add(thing);
  pthread_mutex_unlock(&lock);
  return thing.key;
}

// `missing`: the answer for a handle that is none.
static status handle_end(const void *handle, unsigned mask, status missing) {
  pthread_mutex_lock(&lock);
  struct thing *thing = thing_find((uintptr_t)handle, mask);
  if (thing) {
    if (thing->what == ARRAY || thing->what == MIPMAP) vram_used[thing->device] -= thing->span;
    thing_drop(thing);
  }
  pthread_mutex_unlock(&lock);
  return told(thing ? OK : missing);
}

status hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  if (!pointer || !bytes) return told(INVALID_VALUE);
  handle_make((struct thing){.key = (uintptr_t)pointer, .bytes = bytes, .what = REGISTERED});
  return OK;
}
status hipHostUnregister(void *pointer) {
  FAIL_ON_DEMAND();
  return handle_end(pointer, 1u << REGISTERED, NOT_REGISTERED);
}

// ---- arrays

struct channel_format {
  int bits[4], kind;
};
struct array_descriptor {
  size_t width, height;
  int format;
  unsigned channels;
};
struct array3d_descriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

static status array_make(void **array, uint64_t texels, uint64_t texel_bytes, enum what what) {
  uint64_t span = rounded(texels * texel_bytes, PAGE);
  pthread_mutex_lock(&lock);
  bool fits = vram_take(current, span);
  pthread_mutex_unlock(&lock);
  if (!fits) return told(OUT_OF_MEMORY);
  *array = (void *)handle_make((struct thing){.span = span, .what = what, .device = current});
  return OK;
}

static uint64_t one(uint64_t count) { return count ? count : 1; }
static uint64_t format_bytes(const struct channel_format *format) {
  return (uint64_t)(format->bits[0] + format->bits[1] + format->bits[2] + format->bits[3]) / 8;
}

status hipMallocArray(void **array, const struct channel_format *format, size_t width, size_t height, unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  if (!array || !format) return told(INVALID_VALUE);
  return array_make(array, width * one(height), format_bytes(format), ARRAY);
}
status hipMalloc3DArray(void **array, const struct channel_format *format, struct extent extent, unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  if (!array || !format) return told(INVALID_VALUE);
  return array_make(array, extent.width * one(extent.height) * one(extent.depth), format_bytes(format), ARRAY);
}
status hipArrayCreate(void **array, const struct array_descriptor *about) {
  FAIL_ON_DEMAND();
  if (!array || !about) return told(INVALID_VALUE);
  return array_make(array, about->width * one(about->height), 4 * about->channels, ARRAY);
}
status hipArray3DCreate(void **array, const struct array3d_descriptor *about) {
  FAIL_ON_DEMAND();
  if (!array || !about) return told(INVALID_VALUE);
  return array_make(array, about->width * one(about->height) * one(about->depth), 4 * about->channels, ARRAY);
}
status hipFreeArray(void *array) {
  FAIL_ON_DEMAND();
  return handle_end(array, 1u << ARRAY, array ? INVALID_CONTEXT : INVALID_VALUE);
}
status hipArrayDestroy(void *array) { return hipFreeArray(array); }
status hipMallocMipmappedArray(void **array, const struct channel_format *format, struct extent extent, unsigned levels,
                               unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags, (void)levels;
  if (!array || !format) return told(INVALID_VALUE);
  return array_make(array, 2 * extent.width * one(extent.height) * one(extent.depth), format_bytes(format), MIPMAP);
}
status hipMipmappedArrayCreate(void **array, struct array3d_descriptor *about, unsigned levels) {
  (void)levels;
  if (!array || !about) return told(INVALID_VALUE);
  return array_make(array, 2 * about->width * one(about->height), 4 * about->channels, MIPMAP);
}
status hipFreeMipmappedArray(void *array) { return handle_end(array, 1u << MIPMAP, INVALID_VALUE); }
status hipMipmappedArrayDestroy(void *array) { return hipFreeMipmappedArray(array); }

// ---- streams and events

status hipStreamCreate(void **stream) {
  FAIL_ON_DEMAND();
  *stream = (void *)handle_make((struct thing){.what = STREAM, .device = current});
  return OK;
}
status hipStreamCreateWithFlags(void **stream, unsigned flags) {
  (void)flags;
  return hipStreamCreate(stream);
}
status hipStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  (void)flags, (void)priority;
  return hipStreamCreate(stream);
}
status hipExecutionCtxStreamCreate(void **stream, void *context, unsigned flags, int priority) {
  (void)context, (void)flags, (void)priority;
  return hipStreamCreate(stream);
}
status hipExtStreamCreateWithCUMask(void **stream, uint32_t count, const uint32_t *mask) {
  (void)count, (void)mask;
  return hipStreamCreate(stream);
}
status hipStreamDestroy(void *stream) {
  FAIL_ON_DEMAND();
  return handle_end(stream, 1u << STREAM, INVALID_HANDLE);
}
status hipEventCreate(void **event) {
  *event = (void *)handle_make((struct thing){.what = EVENT});
  return OK;
}
status hipEventCreateWithFlags(void **event, unsigned flags) {
  (void)flags;
  return hipEventCreate(event);
}
status hipEventDestroy(void *event) { return handle_end(event, 1u << EVENT, INVALID_HANDLE); }
status hipEventElapsedTime(float *milliseconds, void *start_event, void *end_event) {
  (void)start_event, (void)end_event;
  *milliseconds = 1;
  return OK;
}

static int stream_device_locked(const void *stream) {
  const struct thing *thing = thing_find((uintptr_t)stream, 1u << STREAM);
  return thing ? thing->device : current;
}

// ---- pools: what is given back stays in the pool's free heap until it is trimmed or the device is waited for

#define SPARES_MAX 4096
static struct spare {
  uintptr_t address, pool;
  uint64_t span;
  int device;
} spares[SPARES_MAX];
static int spare_count;
static uintptr_t default_pools[GPUS_MAX], current_pools[GPUS_MAX];

static uintptr_t default_pool_locked(int device) {
  if (!default_pools[device])
    default_pools[device] = thing_add((struct thing){.key = handle_new(), .what = POOL, .device = device})->key;
  return default_pools[device];
}

static void spare_release(int at) {
  munmap((void *)spares[at].address, spares[at].span);
  vram_used[spares[at].device] -= spares[at].span;
  spares[at] = spares[--spare_count];
}

static void spares_trim_locked(uintptr_t pool, uint64_t keep_bytes) {
  uint64_t kept = 0;
  for (int i = spare_count; i-- > 0;) {
    if (pool && spares[i].pool != pool) continue;
    if (kept + spares[i].span <= keep_bytes)
      kept += spares[i].span;
    else
      spare_release(i);
  }
}

static status pool_give_locked(struct thing *thing) {
  if (spare_count < SPARES_MAX) {
    spares[spare_count++] = (struct spare){thing->key, thing->owner, thing->span, thing->device};
  } else {
    munmap((void *)thing->key, thing->span);
    vram_used[thing->device] -= thing->span;
  }
  thing_drop(thing);
  return OK;
}

static uintptr_t spare_take_locked(uintptr_t pool, uint64_t span, uint64_t *got) {
  for (int i = 0; i < spare_count; i++)
    if (spares[i].pool == pool && spares[i].span >= span) {
      uintptr_t address = spares[i].address;
      *got = spares[i].span;
      spares[i] = spares[--spare_count];
      return address;
    }
  return 0;
}

static status pooled_make(void **pointer, uint64_t bytes, uintptr_t pool, const void *stream) {
  if (!pointer) return INVALID_VALUE;
  if (!bytes) return *pointer = NULL, OK;
  pthread_mutex_lock(&lock);
  int device = stream_device_locked(stream);
  struct thing *known = thing_find(pool, 1u << POOL);
  if (known) device = known->device;
  if (!pool) pool = current_pools[device] ? current_pools[device] : default_pool_locked(device);
  uint64_t span = rounded(bytes, PAGE);
  uintptr_t address = spare_take_locked(pool, span, &span);
  if (!address && bytes < 1ul << 46 && vram_take(device, span)) {
    address = (uintptr_t)space_map(span);
    if (!address) vram_used[device] -= span;
  }
  if (address)
    thing_add(
        (struct thing){.key = address, .bytes = bytes, .span = span, .what = POOLED, .device = device, .owner = pool});
  pthread_mutex_unlock(&lock);
  if (!address) return OUT_OF_MEMORY;
  *pointer = (void *)address;
  return OK;
}

status hipMallocAsync(void **pointer, size_t bytes, void *stream) {
  FAIL_ON_DEMAND();
  return told(pooled_make(pointer, bytes, 0, stream));
}
status hipMallocFromPoolAsync(void **pointer, size_t bytes, void *pool, void *stream) {
  FAIL_ON_DEMAND();
  return told(pooled_make(pointer, bytes, (uintptr_t)pool, stream));
}
status hipFreeAsync(void *pointer, void *stream) {
  FAIL_ON_DEMAND();
  (void)stream;
  if (!pointer) return told(SIMHIP_MAJOR >= 7 ? OK : INVALID_VALUE);
  return told(take(pointer, ANY_MEMORY));
}

struct pool_properties {
  int type, handle_types, location_type, device;
};
status hipMemPoolCreate(void **pool, const struct pool_properties *about) {
  FAIL_ON_DEMAND();
  if (!pool || !about) return told(INVALID_VALUE);
  *pool = (void *)handle_make((struct thing){.what = POOL, .device = about->device});
  return OK;
}
status hipMemPoolDestroy(void *pool) {
  pthread_mutex_lock(&lock);
  spares_trim_locked((uintptr_t)pool, 0);
  pthread_mutex_unlock(&lock);
  return handle_end(pool, 1u << POOL, INVALID_VALUE);
}
// Of another process, which here is made up: its pool, and a block of it.
status hipMemPoolImportFromShareableHandle(void **pool, void *handle, int type, unsigned flags) {
  (void)handle, (void)type, (void)flags;
  *pool = (void *)handle_make((struct thing){.what = POOL});
  return OK;
}
status hipMemPoolImportPointer(void **pointer, void *pool, void *data) {
  (void)pool, (void)data;
  return told(make(pointer, 65536, DEVICE, current));
}
status hipMemPoolTrimTo(void *pool, size_t keep_bytes) {
  pthread_mutex_lock(&lock);
  spares_trim_locked((uintptr_t)pool, keep_bytes);
  pthread_mutex_unlock(&lock);
  return OK;
}
status hipMemPoolSetAttribute(void *pool, int attribute, void *value) {
  (void)pool, (void)attribute, (void)value;
  return OK;
}
status hipMemPoolGetAttribute(void *pool, int attribute, void *value) {
  uint64_t used = 0, reserved = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < thing_count; i++)
    if (things[i].what == POOLED && things[i].owner == (uintptr_t)pool) used += things[i].span;
  for (int i = 0; i < spare_count; i++)
    if (spares[i].pool == (uintptr_t)pool) reserved += spares[i].span;
  pthread_mutex_unlock(&lock);
  *(uint64_t *)value = attribute >= 7 ? used : attribute >= 5 ? used + reserved : 0;
  return OK;
}
status hipMemPoolSetAccess(void *pool, const void *about, size_t count) {
  (void)pool, (void)about, (void)count;
  return OK;
}
status hipDeviceGetDefaultMemPool(void **pool, int device) {
  pthread_mutex_lock(&lock);
  *pool = (void *)default_pool_locked(device);
  pthread_mutex_unlock(&lock);
  return OK;
}
status hipDeviceGetMemPool(void **pool, int device) {
  status result = hipDeviceGetDefaultMemPool(pool, device);
  if (current_pools[device]) *pool = (void *)current_pools[device];
  return result;
}
status hipDeviceSetMemPool(int device, void *pool) {
  current_pools[device] = (uintptr_t)pool;
  return OK;
}

// ---- virtual memory management

#define LOCATION_HOST 2 // hipMemLocationTypeHost, from 7.0 on

struct allocation_properties {
  int type, handle_type, location_type, device;
};
status hipMemGetAllocationGranularity(size_t *bytes, const void *about, int which) {
  (void)about, (void)which;
  *bytes = GRANULARITY;
  return OK;
}
status hipMemAddressReserve(void **pointer, size_t bytes, size_t alignment, void *wanted, unsigned long long flags) {
  FAIL_ON_DEMAND();
  (void)alignment, (void)wanted, (void)flags;
  if (!bytes || bytes % GRANULARITY) return told(INVALID_VALUE);
  void *address = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return told(OUT_OF_MEMORY);
  handle_make((struct thing){.key = (uintptr_t)address, .bytes = bytes, .span = bytes, .what = RANGE});
  *pointer = address;
  return OK;
}
status hipMemAddressFree(void *pointer, size_t bytes) {
  FAIL_ON_DEMAND();
  status result = handle_end(pointer, 1u << RANGE, INVALID_VALUE);
  if (result == OK) munmap(pointer, bytes);
  return result;
}
status hipMemCreate(void **handle, size_t bytes, const struct allocation_properties *about, unsigned long long flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  if (!handle || !about || !bytes || bytes % GRANULARITY) return told(INVALID_VALUE);
  bool is_host = about->location_type >= LOCATION_HOST;
  if (is_host && SIMHIP_MAJOR < 7) return told(INVALID_VALUE);
  pthread_mutex_lock(&lock);
  bool fits = is_host ? bytes < 1ul << 46 : vram_take(about->device, bytes);
  pthread_mutex_unlock(&lock);
  if (!fits) return told(OUT_OF_MEMORY);
  *handle = (void *)handle_make((struct thing){
      .bytes = bytes, .span = is_host ? 0 : bytes, .what = PHYSICAL, .device = about->device, .references = 1});
  return OK;
}

static status physical_drop_locked(uintptr_t handle) {
  struct thing *thing = thing_find(handle, 1u << PHYSICAL);
  if (!thing) return INVALID_VALUE;
  if (--thing->references == 0) {
    vram_used[thing->device] -= thing->span;
    thing_drop(thing);
  }
  return OK;
}

status hipMemRelease(void *handle) {
  FAIL_ON_DEMAND();
  pthread_mutex_lock(&lock);
  status result = physical_drop_locked((uintptr_t)handle);
  pthread_mutex_unlock(&lock);
  return told(result);
}
status hipMemImportFromShareableHandle(void **handle, void *os_handle, int type) {
  struct allocation_properties about = {.device = current};
  (void)os_handle, (void)type;
  return hipMemCreate(handle, GRANULARITY, &about, 0);
}
status hipMemRetainAllocationHandle(void **handle, void *address) {
  pthread_mutex_lock(&lock);
  struct thing *mapping = thing_find((uintptr_t)address, 1u << MAPPING);
  struct thing *physical = mapping ? thing_find(mapping->owner, 1u << PHYSICAL) : NULL;
  if (physical) {
    *handle = (void *)physical->key;
    physical->references += SIMHIP_MAJOR >= 7;
  }
  pthread_mutex_unlock(&lock);
  return told(physical ? OK : INVALID_VALUE);
}
status hipMemMap(void *pointer, size_t bytes, size_t offset, void *handle, unsigned long long flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  pthread_mutex_lock(&lock);
  struct thing *physical = thing_find((uintptr_t)handle, 1u << PHYSICAL);
  if (physical && !offset) {
    physical->references++;
    thing_add((struct thing){.key = (uintptr_t)pointer, .bytes = bytes, .what = MAPPING, .owner = (uintptr_t)handle});
  }
  pthread_mutex_unlock(&lock);
  return told(physical && !offset ? OK : INVALID_VALUE);
}
status hipMemUnmap(void *pointer, size_t bytes) {
  FAIL_ON_DEMAND();
  bool any = false;
  pthread_mutex_lock(&lock);
  for (size_t i = thing_count; i-- > 0;) {
    if (i >= thing_count || things[i].what != MAPPING || things[i].key - (uintptr_t)pointer >= bytes) continue;
    uintptr_t handle = things[i].owner;
    thing_drop(&things[i]);
    physical_drop_locked(handle);
    any = true;
  }
  pthread_mutex_unlock(&lock);
  return told(any ? OK : INVALID_VALUE);
}
status hipMemSetAccess(void *pointer, size_t bytes, const void *about, size_t count) {
  (void)about, (void)count;
  return mprotect(pointer, bytes, PROT_READ | PROT_WRITE) ? told(INVALID_VALUE) : OK;
}

// ---- IPC: the opened memory is not the other process's, only as long as it

struct ipc_handle {
  char bytes[64];
};
status hipIpcGetMemHandle(struct ipc_handle *handle, void *pointer) {
  pthread_mutex_lock(&lock);
  struct thing *thing = thing_find((uintptr_t)pointer, ANY_MEMORY);
  uint64_t bytes = thing ? thing->bytes : 0;
  pthread_mutex_unlock(&lock);
  uint64_t words[3] = {(uint64_t)getpid(), bytes, (uint64_t)(uintptr_t)pointer};
  memset(handle, 0, sizeof *handle);
  memcpy(handle, words, sizeof words);
  return told(bytes ? OK : INVALID_VALUE);
}
status hipIpcOpenMemHandle(void **pointer, struct ipc_handle handle, unsigned flags) {
  FAIL_ON_DEMAND();
  (void)flags;
  uint64_t words[3];
  memcpy(words, &handle, sizeof words);
  if (words[0] == (uint64_t)getpid()) return told(INVALID_CONTEXT);
  pthread_mutex_lock(&lock);
  struct thing *open = NULL;
  for (size_t i = 0; i < thing_count; i++)
    if (things[i].what == IMPORTED && things[i].owner == words[2]) open = &things[i];
  if (!open) {
    uint64_t span = rounded(words[1], PAGE);
    uintptr_t address = (uintptr_t)space_map(span);
    if (address) open = thing_add((struct thing){.key = address, .span = span, .what = IMPORTED, .owner = words[2]});
  }
  if (open) {
    open->references++;
    *pointer = (void *)open->key;
  }
  pthread_mutex_unlock(&lock);
  return told(open ? OK : OUT_OF_MEMORY);
}
status hipIpcCloseMemHandle(void *pointer) {
  pthread_mutex_lock(&lock);
  struct thing *open = thing_find((uintptr_t)pointer, 1u << IMPORTED);
  if (open && --open->references == 0) {
    munmap(pointer, open->span);
    thing_drop(open);
  }
  pthread_mutex_unlock(&lock);
  return told(open ? OK : INVALID_VALUE);
}

// ---- graphs

struct alloc_node {
  struct pool_properties pool;
  char rest[88 - sizeof(struct pool_properties)];
  const void *access;
  size_t access_count, bytes;
  void *pointer;
};
// As where they are blocks of the heap: one that is destroyed leaves its handle to the next.
static uintptr_t spare_graph;

status hipGraphCreate(void **graph, unsigned flags) {
  (void)flags;
  *graph =
      (void *)handle_make((struct thing){.key = __atomic_exchange_n(&spare_graph, 0, __ATOMIC_ACQ_REL), .what = GRAPH});
  return OK;
}
status hipGraphDestroy(void *graph) {
  status result = handle_end(graph, 1u << GRAPH, INVALID_VALUE);
  if (result == OK) __atomic_store_n(&spare_graph, (uintptr_t)graph, __ATOMIC_RELEASE);
  return result;
}
status hipGraphAddMemAllocNode(void **node, void *graph, void *const *before, size_t count, struct alloc_node *about) {
  FAIL_ON_DEMAND();
  (void)graph, (void)before, (void)count;
  if (!node || !about) return told(INVALID_VALUE);
  *node = (void *)handle_new();
  return told(make(&about->pointer, about->bytes, DEVICE, about->pool.device));
}
status hipGraphAddMemFreeNode(void **node, void *graph, void *const *before, size_t count, void *pointer) {
  (void)graph, (void)before, (void)count, (void)pointer;
  *node = (void *)handle_new();
  return OK;
}
status hipDrvGraphAddMemFreeNode(void **node, void *graph, void *const *before, size_t count, void *pointer) {
  return hipGraphAddMemFreeNode(node, graph, before, count, pointer);
}
struct node_parameters {
  int type, reserved[3];
  union {
    struct alloc_node alloc;
    void *freed;
  };
};
status hipGraphAddNode(void **node, void *graph, void *const *before, size_t count, struct node_parameters *about) {
  if (!node || !about) return told(INVALID_VALUE);
  if (about->type == 10) return hipGraphAddMemAllocNode(node, graph, before, count, &about->alloc);
  if (about->type == 11) return hipGraphAddMemFreeNode(node, graph, before, count, about->freed);
  return told(NOT_SUPPORTED);
}
status hipGraphInstantiate(void **exec, void *graph, void **error_node, char *log, size_t log_bytes) {
  (void)error_node, (void)log, (void)log_bytes;
  *exec = (void *)handle_make((struct thing){.what = EXEC, .owner = (uintptr_t)graph});
  return OK;
}
status hipGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  (void)flags;
  return hipGraphInstantiate(exec, graph, NULL, NULL, 0);
}
status hipGraphInstantiateWithParams(void **exec, void *graph, void *about) {
  (void)about;
  return hipGraphInstantiate(exec, graph, NULL, NULL, 0);
}
status hipGraphExecDestroy(void *exec) { return handle_end(exec, 1u << EXEC, INVALID_VALUE); }
status hipStreamBeginCapture(void *stream, int mode) {
  (void)mode;
  if (!stream || stream == STREAM_LEGACY) return told(CAPTURE_UNSUPPORTED);
  pthread_mutex_lock(&lock);
  struct thing *thing = thing_find((uintptr_t)stream, 1u << STREAM);
  if (thing) thing->capturing = true;
  pthread_mutex_unlock(&lock);
  return told(thing ? OK : INVALID_HANDLE);
}
static void *of_thread(void *stream) {
  if (stream && stream != STREAM_LEGACY) return stream;
  pthread_mutex_lock(&lock);
  if (!thing_find((uintptr_t)STREAM_PER_THREAD, 1u << STREAM))
    thing_add((struct thing){.key = (uintptr_t)STREAM_PER_THREAD, .what = STREAM, .device = current});
  pthread_mutex_unlock(&lock);
  return STREAM_PER_THREAD;
}
status hipStreamBeginCapture_spt(void *stream, int mode) { return hipStreamBeginCapture(of_thread(stream), mode); }
status hipStreamBeginCaptureToGraph(void *stream, void *graph, void *const *before, const void *data, size_t count,
                                    int mode) {
  (void)graph, (void)before, (void)data, (void)count;
  return hipStreamBeginCapture(stream, mode);
}
status hipStreamEndCapture(void *stream, void **graph) {
  status broken = fault_of(__func__); // a rule of captures was: the stream is none that is captured any more
  pthread_mutex_lock(&lock);
  struct thing *thing = thing_find((uintptr_t)stream, 1u << STREAM);
  bool captured = thing && thing->capturing;
  if (captured) thing->capturing = false;
  pthread_mutex_unlock(&lock);
  if (captured && broken) return *graph = NULL, told(broken);
  return captured ? hipGraphCreate(graph, 0) : told(INVALID_HANDLE);
}
status hipStreamEndCapture_spt(void *stream, void **graph) { return hipStreamEndCapture(of_thread(stream), graph); }
status hipStreamIsCapturing(void *stream, int *capturing) {
  (void)stream;
  *capturing = 0;
  return OK;
}

// ---- devices

status hipInit(unsigned flags) {
  (void)flags;
  return gpu_count ? OK : told(100);
}
status hipGetDeviceCount(int *count) {
  *count = gpu_count;
  return gpu_count ? OK : told(100);
}
status hipSetDevice(int device) {
  if (device < 0 || device >= gpu_count) return told(101);
  current = device;
  return OK;
}
status hipGetDevice(int *device) {
  *device = current;
  return OK;
}
status hipDeviceGet(int *device, int ordinal) {
  if (ordinal < 0 || ordinal >= gpu_count) return told(101);
  *device = ordinal;
  return OK;
}
status hipDeviceReset(void) {
  FAIL_ON_DEMAND();
  pthread_mutex_lock(&lock);
  for (size_t i = thing_count; i-- > 0;) {
    struct thing *thing = &things[i];
    bool goes = thing->what == DEVICE || thing->what == POOLED || thing->what == ARRAY || thing->what == STREAM;
    if (!goes || thing->device != current) continue;
    if (thing->what == DEVICE || thing->what == POOLED) munmap((void *)thing->key, thing->span);
    if (thing->what != STREAM) vram_used[current] -= thing->span;
    thing_drop(thing);
  }
  pthread_mutex_unlock(&lock);
  return OK;
}
status hipMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  *free_bytes = vram_bytes - vram_used[current];
  *total_bytes = vram_bytes;
  return OK;
}
status hipDeviceTotalMem(size_t *bytes, int device) {
  (void)device;
  *bytes = vram_bytes;
  return OK;
}
static status properties_fill(char *properties, size_t bytes, size_t total_at) {
  memset(properties, 0, bytes);
  strcpy(properties, "simhip gfx90a");
  memcpy(properties + total_at, &vram_bytes, sizeof vram_bytes);
  return OK;
}
status hipGetDeviceProperties(char *properties, int device) {
  (void)device;
  return properties_fill(properties, 700, 256);
}
status hipGetDevicePropertiesR0600(char *properties, int device) {
  static const int warp = 64, major = 9, minor = 0, processors = 104, pools = 1;
  (void)device;
  properties_fill(properties, 1472, 288);
  memcpy(properties + 308, &warp, sizeof warp);
  memcpy(properties + 360, &major, sizeof major);
  memcpy(properties + 364, &minor, sizeof minor);
  memcpy(properties + 388, &processors, sizeof processors);
  memcpy(properties + 744, &pools, sizeof pools);
  strcpy(properties + 1160, "gfx90a:sramecc+:xnack-");
  return OK;
}
status hipDeviceGetName(char *name, int bytes, int device) {
  (void)device;
  snprintf(name, (size_t)bytes, "simhip gfx90a");
  return OK;
}
// hipDeviceAttribute_t changed its numbers from 5 to 6; the ones below are those of 6 and 7.
status hipDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 23: // ComputeCapabilityMajor
    *value = 9;
    break;
  case 63: // MultiprocessorCount
    *value = 104;
    break;
  case 87: // WarpSize
    *value = 64;
    break;
  case 56: // MaxThreadsPerBlock
    *value = 1024;
    break;
  case 67: // PciBusId; these three are what simhsa.c says
  case 68: // PciDeviceId
    *value = 1;
    break;
  case 69: // PciDomainId
    *value = 0;
    break;
  default:
    *value = attribute == 61 ? 0 : 1;
  }
  return OK;
}
status hipDriverGetVersion(int *version) {
  *version = SIMHIP_MAJOR * 10000000 + 2 * 100000;
  return OK;
}
status hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }
status hipDeviceGetPCIBusId(char *text, int bytes, int device) {
  snprintf(text, (size_t)bytes, "0000:%02x:00.0", device + 1);
  return OK;
}
status hipDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = device != peer;
  return OK;
}
status hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 1;
  *greatest = -1;
  return OK;
}
static status wait_for_device(void) {
  pthread_mutex_lock(&lock);
  spares_trim_locked(0, 0);
  pthread_mutex_unlock(&lock);
  return OK;
}
status hipDeviceSynchronize(void) { return wait_for_device(); }

// A context is its device.
#define CONTEXT(device) ((void *)(0x51ul + (unsigned long)(device)))
static __thread int context_stack[16], context_depth; // devices

static int context_device(const void *context) {
  uintptr_t number = (uintptr_t)context - 0x51ul;
  return number < (uintptr_t)gpu_count ? (int)number : -1;
}
status hipCtxGetCurrent(void **context) {
  *context = CONTEXT(current);
  return OK;
}
status hipDevicePrimaryCtxRetain(void **context, int device) {
  if (device < 0 || device >= gpu_count) return told(101);
  *context = CONTEXT(device);
  return OK;
}
status hipCtxSetCurrent(void *context) {
  if (context_device(context) < 0) return told(INVALID_VALUE);
  current = context_device(context);
  return OK;
}
status hipCtxPushCurrent(void *context) {
  if (context_device(context) < 0 || context_depth == 16) return told(INVALID_VALUE);
  context_stack[context_depth++] = current;
  return hipCtxSetCurrent(context);
}
status hipCtxPopCurrent(void **context) {
  if (!context_depth) return told(INVALID_CONTEXT);
  *context = CONTEXT(current);
  current = context_stack[--context_depth];
  return OK;
}
status hipCtxCreate(void **context, unsigned flags, int device) {
  (void)flags;
  status result = hipDevicePrimaryCtxRetain(context, device);
  return result ? result : hipCtxPushCurrent(*context);
}
status hipCtxDestroy(void *context) {
  void *popped;
  if (context_device(context) < 0) return told(INVALID_VALUE);
  return context_depth && context_device(context) == current ? hipCtxPopCurrent(&popped) : OK;
}

// An unknown pointer is no error from 6.0 on, or CuPy does not start.
struct pointer_attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int managed;
  unsigned flags;
};
status hipPointerGetAttributes(struct pointer_attributes *about, const void *pointer) {
  memset(about, 0, sizeof *about);
  pthread_mutex_lock(&lock);
  const struct thing *thing = thing_find((uintptr_t)pointer, ANY_MEMORY);
  if (thing) {
    about->type = thing->what == PINNED ? 1 : thing->what == MANAGED ? 3 : 2;
    about->device = thing->device;
    about->device_pointer = (void *)thing->key;
  }
  pthread_mutex_unlock(&lock);
  return thing || SIMHIP_MAJOR >= 6 ? OK : told(INVALID_VALUE);
}
status hipMemGetAddressRange(void **base, size_t *bytes, void *pointer) {
  pthread_mutex_lock(&lock);
  struct thing *found = NULL;
  for (size_t i = 0; i < thing_count; i++)
    if (things[i].span && (uintptr_t)pointer - things[i].key < things[i].span && things[i].what <= POOLED)
      found = &things[i];
  if (found && base) *base = (void *)found->key;
  if (found && bytes) *bytes = found->bytes;
  pthread_mutex_unlock(&lock);
  return told(found ? OK : NOT_FOUND);
}

// ---- copies, on the CPU

status hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  (void)kind;
  memmove(to, from, bytes);
  return OK;
}
status hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  (void)stream;
  return hipMemcpy(to, from, bytes, kind);
}
status hipMemcpyHtoD(void *to, void *from, size_t bytes) { return hipMemcpy(to, from, bytes, 1); }
status hipMemcpyDtoH(void *to, void *from, size_t bytes) { return hipMemcpy(to, from, bytes, 2); }
status hipMemcpyDtoD(void *to, void *from, size_t bytes) { return hipMemcpy(to, from, bytes, 3); }
status hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes, void *stream) {
  return hipMemcpyAsync(to, from, bytes, 1, stream);
}
status hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) {
  return hipMemcpyAsync(to, from, bytes, 2, stream);
}
status hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, void *stream) {
  return hipMemcpyAsync(to, from, bytes, 3, stream);
}
status hipMemset(void *to, int value, size_t bytes) {
  memset(to, value, bytes);
  return OK;
}
status hipMemsetAsync(void *to, int value, size_t bytes, void *stream) {
  (void)stream;
  return hipMemset(to, value, bytes);
}
status hipMemsetD8Async(void *to, unsigned char value, size_t count, void *stream) {
  return hipMemsetAsync(to, value, count, stream);
}
status hipMemsetD32Async(void *to, int value, size_t count, void *stream) {
  (void)stream;
  for (size_t i = 0; i < count; i++) ((int *)to)[i] = value;
  return OK;
}
status hipMemsetD16Async(void *to, unsigned short value, size_t count, void *stream) {
  (void)stream;
  for (size_t i = 0; i < count; i++) ((unsigned short *)to)[i] = value;
  return OK;
}

// ---- errors, names, functions by name

status hipGetLastError(void) {
  status error = last_error;
  last_error = OK;
  return error;
}
status hipPeekAtLastError(void) { return last_error; }
const char *hipGetErrorName(status error) {
  return error == OK ? "hipSuccess" : error == OUT_OF_MEMORY ? "hipErrorOutOfMemory" : "hipErrorInvalidValue";
}
const char *hipGetErrorString(status error) {
  return error == OK ? "no error" : error == OUT_OF_MEMORY ? "out of memory" : "invalid argument";
}
status hipDrvGetErrorName(status error, const char **name) {
  *name = hipGetErrorName(error);
  return OK;
}
status hipDrvGetErrorString(status error, const char **text) {
  *text = hipGetErrorString(error);
  return OK;
}
status hipGetProcAddress(const char *name, void **function, int version, uint64_t flags, int *found) {
  Dl_info own;
  (void)version, (void)flags;
  dladdr((const void *)(uintptr_t)hipInit, &own);
  void *library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(library, name);
  dlclose(library);
  if (found) *found = *function == NULL;
  return *function ? OK : told(NOT_FOUND);
}
status hipGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *found) {
  return hipGetProcAddress(name, function, 0, flags, found);
}
status hipGetProcAddress_spt(const char *name, void **function, int version, uint64_t flags, int *found) {
  return hipGetProcAddress(name, function, version, flags, found);
}
status hipGetDriverEntryPoint_spt(const char *name, void **function, unsigned long long flags, int *found) {
  return hipGetProcAddress(name, function, 0, flags, found);
}

// Modules and kernels: accepted, never run.
status hipModuleLoadData(void **module, const void *image) {
  (void)image;
  *module = (void *)handle_new();
  return OK;
}
status hipModuleLoadDataEx(void **module, const void *image, unsigned count, void *options, void **values) {
  (void)count, (void)options, (void)values;
  return hipModuleLoadData(module, image);
}
status hipModuleGetFunction(void **function, void *module, const char *name) {
  (void)module, (void)name;
  *function = (void *)handle_new();
  return OK;
}
static void *fat_binary;
void **__hipRegisterFatBinary(const void *data) {
  (void)data;
  return &fat_binary;
}

// Functions that succeed and do nothing, and those that are only there by name.
#define FINE(name)                                                                                                     \
  status name(void) { return OK; }
#define MISSING(name)                                                                                                  \
  status name(void) { return told(NOT_SUPPORTED); }
#include "simhip_rest.def"
