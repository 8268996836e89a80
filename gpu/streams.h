// Devices and streams, and what each holds. Streams are named in the order of their creation; the handle of one that
// ended may be given to a new one.
#ifndef HT_STREAMS_H
#define HT_STREAMS_H

#include "../native/thread.h"

#define GPU_DEVICES_MAX 64    // devices beyond are counted with the last one
#define GPU_STREAMS_MAX 4096u // streams beyond are counted with the last one

struct gpu_use {
  uint64_t live_bytes, peak_bytes, allocations;
};

struct gpu_device {
  bool used;
  struct gpu_use use;      // kind device, of all streams and of none
  uint64_t total_bytes;    // of memory; 0: the program never asked
  uint64_t reserved_bytes; // address ranges without memory
  uint64_t registered_bytes;
  uint64_t pool_bytes;  // of `use`: framework pools' blocks, whole
  uint64_t piece_bytes; // of `pool_bytes`: handed out
  char name[64];        // "": the program never asked
};

struct gpu_stream {
  uintptr_t handle;
  uint32_t number; // 0: the device's default stream, GPU_STREAM_PER_THREAD: each thread's own; else counted from 1
  uint8_t device;
  bool ended, capturing;
  struct gpu_use use;
};
#define GPU_STREAM_PER_THREAD UINT32_MAX

extern struct gpu_device gpu_devices[GPU_DEVICES_MAX];
extern struct gpu_stream *gpu_streams; // own memory, GPU_STREAMS_MAX of them
extern uint32_t gpu_stream_count;
extern __thread int gpu_current_device __attribute__((tls_model("initial-exec"))); // HIP: each thread starts with 0

bool streams_init(void);

uint8_t device_index(int device);
void device_set(int device);
// The thread's device may be another one from now on.
void device_forget(void);
// At the entry of a wrapper: asks which device a thread has that was there before an attach, or that changed contexts.
void device_look(struct thread *thread);
// A process was attached to, for this number of times; 0: recorded from its first moment.
extern HT_HIDDEN uint32_t gpu_attach_number; // kept over a detach
void device_total(int device, uint64_t total_bytes);
// `properties` begins with the name, `total_at` is where the memory's size stands.
void device_described(int device, const char *properties, size_t total_at);

void stream_made(void *handle, int device);
// Before the call: its handle may be another stream's right after it.
void stream_ended(void *handle);
void stream_revived(void *handle);
void stream_capture_begin(void *handle);
bool streams_are_captured(void);
// The stream that `handle` is for functions that take each thread's own for the default one (_spt).
void *stream_of_thread(void *handle);

// The stream that `handle` names on `device` right now, as index + 1; a new one when it was not seen being made.
uint32_t stream_find_locked(void *handle, int device);
// False for one that stands for streams beyond GPU_STREAMS_MAX, `handle` among them.
bool stream_is(const struct gpu_stream *stream, const void *handle);
// Ends all streams of a device.
void streams_end_locked(uint8_t device);

HT_INLINE void use_add(struct gpu_use *use, uint64_t bytes) {
  use->allocations++;
  use->live_bytes += bytes;
  if (use->live_bytes > use->peak_bytes) use->peak_bytes = use->live_bytes;
}
HT_INLINE void use_subtract(struct gpu_use *use, uint64_t bytes) {
  use->live_bytes -= bytes < use->live_bytes ? bytes : use->live_bytes;
}

// In the fork child.
void streams_forget(void);

#endif
