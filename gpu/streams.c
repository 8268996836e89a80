#include "streams.h"

#include <string.h>

#include "../native/core.h"
#include "../native/lock.h"
#include "../native/report.h"
#include "../native/sys.h"
#include "hip_abi.h"
#include "hip_library.h"

struct gpu_device gpu_devices[GPU_DEVICES_MAX];
struct gpu_stream *gpu_streams;
uint32_t gpu_stream_count;
static uint32_t streams_named;
__thread int gpu_current_device __attribute__((tls_model("initial-exec")));
static __thread uint32_t device_asked __attribute__((tls_model("initial-exec"))); // the attach that it was asked for
HT_KEPT uint32_t gpu_attach_number;

bool streams_init(void) { return (gpu_streams = sys_map(GPU_STREAMS_MAX * sizeof *gpu_streams)) != NULL; }

// ---- devices

uint8_t device_index(int device) {
  if (device < 0) return 0;
  return (uint8_t)(device < GPU_DEVICES_MAX ? device : GPU_DEVICES_MAX - 1);
}

void device_set(int device) {
  gpu_current_device = device;
  device_asked = gpu_attach_number;
}

#define NEVER_ASKED UINT32_MAX
void device_forget(void) { device_asked = NEVER_ASKED; }

// A call of HIP as those of driver_use.h: the program's own follows.
void device_look(struct thread *thread) {
  if (likely(device_asked == gpu_attach_number)) return;
  device_asked = gpu_attach_number;
  int (*real_function)(int *) = (int (*)(int *))hip_real(HIP_hipGetDevice), device = 0;
  thread->suspended = 1;
  gpu_current_device = real_function && real_function(&device) == HIP_SUCCESS ? device : 0;
  thread->suspended = 0;
}

void device_total(int device, uint64_t total_bytes) { gpu_devices[device_index(device)].total_bytes = total_bytes; }

void device_described(int device, const char *properties, size_t total_at) {
  struct gpu_device *known = &gpu_devices[device_index(device)];
  uint64_t total_bytes;
  memcpy(&total_bytes, properties + total_at, sizeof total_bytes);
  known->total_bytes = total_bytes;
  size_t length = 0;
  while (length < sizeof known->name - 1 && length < HIP_PROPERTIES_NAME_BYTES && properties[length]) length++;
  memcpy(known->name, properties, length);
  known->name[length] = 0;
}

// ---- streams

static uint32_t number_of(uintptr_t handle) {
  if (handle == HIP_STREAM_NULL) return 0;
  return handle == HIP_STREAM_PER_THREAD ? GPU_STREAM_PER_THREAD : ++streams_named;
}

static const char note_beyond[] =
    "there were more than 4096 streams of GPUs: those beyond are counted with the last one";

static uint32_t stream_add_locked(uintptr_t handle, int device) {
  if (gpu_stream_count == GPU_STREAMS_MAX) return report_note_add(note_beyond), GPU_STREAMS_MAX;
  struct gpu_stream *stream = &gpu_streams[gpu_stream_count];
  *stream = (struct gpu_stream){.handle = handle, .number = number_of(handle), .device = device_index(device)};
  return ++gpu_stream_count;
}

// Newest first: programs end what they made last, and keep using what they made last.
static struct gpu_stream *stream_live_locked(uintptr_t handle, int device) {
  bool one_a_device = handle <= HIP_STREAM_PER_THREAD;
  for (uint32_t i = gpu_stream_count; i-- > 0;) {
    struct gpu_stream *stream = &gpu_streams[i];
    if (stream->handle == handle && !stream->ended && (!one_a_device || stream->device == device_index(device)))
      return stream;
  }
  return NULL;
}

static uintptr_t handle_of(const void *handle) {
  return (uintptr_t)handle == HIP_STREAM_LEGACY ? HIP_STREAM_NULL : (uintptr_t)handle;
}

void *stream_of_thread(void *handle) {
  return handle_of(handle) == HIP_STREAM_NULL ? (void *)HIP_STREAM_PER_THREAD : handle;
}

bool stream_is(const struct gpu_stream *stream, const void *handle) { return stream->handle == handle_of(handle); }

uint32_t stream_find_locked(void *handle, int device) {
  uintptr_t wanted = handle_of(handle);
  struct gpu_stream *stream = stream_live_locked(wanted, device);
  return stream ? (uint32_t)(stream - gpu_streams) + 1 : stream_add_locked(wanted, device);
}

void streams_end_locked(uint8_t device) {
  for (uint32_t i = 0; i < gpu_stream_count; i++)
    if (gpu_streams[i].device == device && gpu_streams[i].handle > HIP_STREAM_PER_THREAD) gpu_streams[i].ended = true;
}

void stream_made(void *handle, int device) {
  lock_take(thread_front_lock());
  stream_add_locked((uintptr_t)handle, device);
  lock_drop(thread_front_lock());
}

static void stream_end_set(void *handle, bool ended) {
  if ((uintptr_t)handle <= HIP_STREAM_PER_THREAD) return;
  lock_take(thread_front_lock());
  for (uint32_t i = gpu_stream_count; i-- > 0;)
    if (gpu_streams[i].handle == (uintptr_t)handle && gpu_streams[i].ended != ended) {
      gpu_streams[i].ended = ended;
      break;
    }
  lock_drop(thread_front_lock());
}

void stream_ended(void *handle) { stream_end_set(handle, true); }
void stream_revived(void *handle) { stream_end_set(handle, false); }

void stream_capture_begin(void *handle) {
  lock_take(thread_front_lock());
  uint32_t stream = stream_find_locked(handle, gpu_current_device);
  gpu_streams[stream - 1].capturing = true;
  lock_drop(thread_front_lock());
}

// The capture of a stream that is destroyed is over.
bool streams_are_captured(void) {
  bool captured = false;
  lock_take(thread_front_lock());
  for (uint32_t i = 0; i < gpu_stream_count && !captured; i++)
    captured = gpu_streams[i].capturing && !gpu_streams[i].ended;
  lock_drop(thread_front_lock());
  return captured;
}

void streams_forget(void) {
  memset(gpu_devices, 0, sizeof gpu_devices);
  gpu_stream_count = streams_named = 0;
  report_note_forget(note_beyond);
}
