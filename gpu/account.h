// From a HIP call to the recorder: which block came or went, on which device and stream, at which site.
//
// A wrapper: call_begin, the real function, then what the table says, call_end. The status decides: a failed call made
// nothing, a refused free leaves its block live.
#ifndef HT_ACCOUNT_H
#define HT_ACCOUNT_H

#include "../native/core.h"
#include "block_table.h"
#include "hip_abi.h"

struct hip_call {
  struct thread *thread; // NULL: passed through (a call of the runtime's own inside another, or not recording)
  struct hook_frame frame;
  struct gpu_block taken; // by call_take; key 0: none
  const void *found;      // what stood before the call where an address will
  bool temporary;
  bool outermost;
  uint32_t attach; // gpu_attach_number then
  int device;      // that is asked for memory: the thread's, unless the arguments say another
};

// Calls that HIP makes of itself through exported functions come here too (5.x does that): only the outermost counts.
struct hip_call call_begin(struct hook_frame frame);
void call_end(struct hip_call *call);
int call_device(const struct hip_call *call);

// After the real call: whether it is still to be recorded. A detach may have come meanwhile, and another attach.
bool call_is_followed(const struct hip_call *call);
// The same, and then begins a hook.
bool call_record_begin(const struct hip_call *call);

// A free: before the call, and what became of it.
void call_take(struct hip_call *call, enum gpu_space space, const void *key);
void call_taken_end(struct hip_call *call, hip_status status);

// Whether a call that succeeded has put an address where `found` was: up to 5.2 some succeed without.
bool call_lent(const struct hip_call *call, const void *address);

// A call that should have made `asked_bytes` ended with HIP_OUT_OF_MEMORY.
#define HOST_MEMORY 0 // of a device none
void call_failed(struct hip_call *call, uint64_t asked_bytes);
// `asked_bytes` for calls whose arguments say which device they ask; they return the bytes.
uint64_t asked_of(struct hip_call *call, int device, uint64_t asked_bytes);
uint64_t asked_async(struct hip_call *call, void *pool, void *stream, uint64_t asked_bytes);
uint64_t asked_physical(struct hip_call *call, const void *properties, uint64_t asked_bytes);

// ---- what a call that succeeded made; a NULL pointer or no bytes is no block
void made(struct hip_call *call, enum gpu_space space, void *key, uint64_t size_bytes, enum ht_kind kind);
HT_INLINE void made_device(struct hip_call *call, void *pointer, uint64_t size_bytes) {
  made(call, SPACE_POINTER, pointer, size_bytes, HT_KIND_DEVICE);
}
void made_async(struct hip_call *call, void *pointer, uint64_t size_bytes, void *pool, void *stream);
void made_registered(struct hip_call *call, void *pointer, uint64_t size_bytes);
// Memory of another process or interface; `size_bytes` 0: not known.
void made_imported(struct hip_call *call, enum gpu_space space, void *key, uint64_t size_bytes);
void made_pool(struct hip_call *call, void *pool, int device, enum ht_kind kind); // of what is allocated from it
void pool_seen(struct hip_call *call, void *pool, int device); // a device's, which may be one of the program's
void made_own_pool(struct hip_call *call, void *pool, const struct hip_pool_properties *properties);
void made_reservation(struct hip_call *call, void *pointer, uint64_t size_bytes);
void made_physical(struct hip_call *call, void *handle, uint64_t size_bytes, const void *properties);

// Handles live as long as they are held: by the program, by each mapping, from 7.0 on by each that was looked up.
void handle_retained(struct hip_call *call, void *handle);
void mapping_made(struct hip_call *call, void *pointer, uint64_t size_bytes, void *handle);
void mappings_ended(struct hip_call *call, void *pointer, uint64_t size_bytes);

void graphics_mapped(struct hip_call *call, int count, void *const *resources);
void graphics_unmapped(struct hip_call *call, int count, void *const *resources);

// hipDeviceReset: everything that is the device's alone is gone, and nobody's leak.
void device_reset(struct hip_call *call, int device);

// For other files of this folder that make blocks: the record of a new block, and of one that goes.
void account_add(struct hip_call *call, struct gpu_block block);
void account_remove_locked(struct thread *thread, struct gpu_block *block, bool temporary);

// Where the device memory at `address` was allocated: the site of the piece that holds it, or else of the block. Not
// inside a hook.
site_id account_site_at(uintptr_t address);

// ---- sizes
HT_INLINE uint64_t at_least_one(uint64_t count) { return count ? count : 1; }
uint64_t texel_bytes(const struct hip_channel_format *format);
uint64_t element_bytes(int format, unsigned channels);
// An array of `levels` levels, each half of the one before.
uint64_t array_bytes(uint64_t width, uint64_t height, uint64_t depth, unsigned levels, uint64_t texel);
HT_INLINE uint64_t extent_bytes(struct hip_extent extent, uint64_t texel) {
  return array_bytes(extent.width, extent.height, extent.depth, 1, texel);
}
HT_INLINE uint64_t descriptor_bytes(const struct hip_array3d_descriptor *about, unsigned levels) {
  return array_bytes(about->width, about->height, about->depth, levels, element_bytes(about->format, about->channels));
}

// Blocks that were given back after exit began, and those whose free came when the runtime was gone already.
struct gpu_late {
  uint64_t bytes, blocks;
};
extern struct gpu_late gpu_late_frees, gpu_late_lost;

#endif
