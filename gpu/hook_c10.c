// PyTorch's caching allocator, tensor by tensor, while it stays on. libc10 reports each block that it hands out or
// takes back to its own profiler through a function that it calls by its name (c10/core/Allocator.cpp,
// reportMemoryUsageToProfiler); the report comes under the allocator's lock, and nothing here allocates from it.
#include "../native/core.h"
#include "../native/lock.h"
#include "c10_library.h"
#include "pieces.h"
#include "streams.h"

// c10::Device: DeviceType and index, one byte each, in one register (c10/core/Device.h).
struct c10_device {
  int8_t type, index;
};
// c10/core/DeviceType.h; ROCm builds call their GPUs CUDA.
#define C10_CUDA 1
#define C10_HIP 6

static void handed_out(struct thread *thread, void *pointer, uint64_t size_bytes, struct hook_frame frame, int device) {
  site_id site = ht_site(thread, frame, HT_KIND_DEVICE);
  ht_called(thread, (uintptr_t)pointer, size_bytes);
  lock_take(thread_front_lock());
  piece_remove_locked(thread, (uintptr_t)pointer, false); // its end was not seen
  piece_add_locked(thread, (uintptr_t)pointer, size_bytes, site, device_index(device));
  lock_drop(thread_front_lock());
}

static void taken_back(struct thread *thread, void *pointer) {
  bool temporary = thread->last_block == (uintptr_t)pointer;
  ht_called(thread, 0, 0);
  lock_take(thread_front_lock());
  piece_remove_locked(thread, (uintptr_t)pointer, temporary);
  lock_drop(thread_front_lock());
}

static void reported(void *pointer, int64_t size_bytes, struct c10_device device, struct hook_frame frame) {
  struct thread *thread = thread_self();
  bool is_gpu = device.type == C10_CUDA || device.type == C10_HIP;
  if (!is_gpu || !thread || thread_busy(thread) || !pointer) return;
  ht_hook_begin(thread);
  if (size_bytes > 0)
    handed_out(thread, pointer, (uint64_t)size_bytes, frame, device.index);
  else if (size_bytes < 0)
    taken_back(thread, pointer);
  ht_hook_end(thread);
}

typedef void (*c10_report)(void *, int64_t, size_t, size_t, struct c10_device);

HT_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t size_bytes,
                                                                     size_t allocated_bytes, size_t reserved_bytes,
                                                                     struct c10_device device);
HT_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t size_bytes,
                                                                     size_t allocated_bytes, size_t reserved_bytes,
                                                                     struct c10_device device) {
  reported(pointer, size_bytes, device, HOOK_FRAME());
  c10_report real_report = (c10_report)c10_real_report();
  if (real_report) real_report(pointer, size_bytes, allocated_bytes, reserved_bytes, device);
}
