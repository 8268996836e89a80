#include "account.h"

#include <string.h>

#include "../native/hook_life.h"
#include "../native/live.h"
#include "../native/lock.h"
#include "hip_library.h"
#include "memory_failure.h"
#include "pieces.h"
#include "site_use.h"
#include "streams.h"

static __thread unsigned call_depth __attribute__((tls_model("initial-exec")));
struct gpu_late gpu_late_frees, gpu_late_lost;

// ---- the call

// `in_driver`: what the runtime maps meanwhile is address space that blocks are cut from, not a block of its own.
struct hip_call call_begin(struct hook_frame frame) {
  struct hip_call call = {.frame = frame, .outermost = call_depth++ == 0, .attach = gpu_attach_number};
  struct thread *thread = call.outermost && thread_recording() ? thread_self() : NULL;
  if (!thread || thread_busy(thread)) return call;
  call.thread = thread;
  thread->in_driver = 1;
  device_look(thread);
  call.device = gpu_current_device;
  return call;
}

bool call_is_followed(const struct hip_call *call) {
  return call->thread && call->attach == gpu_attach_number && thread_recording() && !thread_busy(call->thread);
}

bool call_record_begin(const struct hip_call *call) {
  if (!call_is_followed(call)) return false;
  ht_hook_begin(call->thread);
  return true;
}

void call_end(struct hip_call *call) {
  call_depth--;
  if (call->thread) call->thread->in_driver = 0;
}

int call_device(const struct hip_call *call) {
  (void)call;
  return gpu_current_device;
}

// ---- what comes

// Streams are told by the device memory that is allocated on them.
static bool is_streamed(const struct gpu_block *block) { return block->stream && block->kind == HT_KIND_DEVICE; }

static void use_made(const struct gpu_block *block) {
  struct gpu_device *device = &gpu_devices[block->device];
  if (block->space != SPACE_POOL) device->used = true; // a pool may be looked up and never used
  if (block->kind == HT_KIND_DEVICE) {
    use_add(&device->use, block->size_bytes);
    site_use_add_locked(block->site, block->size_bytes);
  }
  if (is_streamed(block)) use_add(&gpu_streams[block->stream - 1].use, block->size_bytes);
  if (block->space == SPACE_RESERVATION) device->reserved_bytes += block->size_bytes;
  if (block->flags & GPU_BLOCK_REGISTERED) device->registered_bytes += block->owner;
}

static void use_gone(const struct gpu_block *block) {
  struct gpu_device *device = &gpu_devices[block->device];
  if (block->kind == HT_KIND_DEVICE) {
    use_subtract(&device->use, block->size_bytes);
    site_use_subtract_locked(block->site, block->size_bytes);
  }
  if (is_streamed(block)) use_subtract(&gpu_streams[block->stream - 1].use, block->size_bytes);
  if (block->space == SPACE_RESERVATION) device->reserved_bytes -= block->size_bytes;
  if (block->flags & GPU_BLOCK_REGISTERED) device->registered_bytes -= block->owner;
}

static void block_uncount_locked(struct thread *thread, const struct gpu_block *block, bool temporary) {
  pieces_end_locked(thread, block);
  use_gone(block);
  if (block->kind != GPU_NOT_COUNTED)
    count_free(&thread->count, block->site, (enum ht_kind)block->kind, block->size_bytes, temporary);
}

void account_remove_locked(struct thread *thread, struct gpu_block *block, bool temporary) {
  struct gpu_block gone = *block;
  block_remove_locked(block);
  block_uncount_locked(thread, &gone, temporary);
}

static void add_locked(struct thread *thread, const struct gpu_block *block) {
  struct gpu_block *stale = block_find_locked(block->space, block->key);
  if (stale) account_remove_locked(thread, stale, false); // its end was not seen
  if (!block_put_locked(block)) return;
  use_made(block);
  pieces_container_add_locked(block);
  if (block->kind != GPU_NOT_COUNTED)
    count_alloc(&thread->count, block->site, (enum ht_kind)block->kind, block->size_bytes);
}

// A runtime that takes its memory from malloc (a stand-in) has had the same block counted as the heap's.
void account_add(struct hip_call *call, struct gpu_block block) {
  struct thread *thread = call->thread;
  if (!block.key || !call_record_begin(call)) return;
  if (block.kind != GPU_NOT_COUNTED) {
    if (block.space == SPACE_POINTER) ht_disown(thread, (void *)block.key);
    block.site = ht_site(thread, call->frame, (enum ht_kind)block.kind);
    ht_called(thread, block.key, block.size_bytes);
  }
  block.references = 1;
  lock_take(thread_front_lock());
  add_locked(thread, &block);
  lock_drop(thread_front_lock());
  ht_hook_end(thread);
}

// ---- what goes

void call_take(struct hip_call *call, enum gpu_space space, const void *key) {
  struct thread *thread = call->thread;
  call->taken.key = 0;
  if (!key || !call_record_begin(call)) return;
  call->temporary = thread->last_block == (uintptr_t)key;
  lock_take(thread_front_lock());
  struct gpu_block *block = block_find_locked(space, (uintptr_t)key);
  if (block) {
    block->references--;
    call->taken = *block;
    if (!block->references) block_remove_locked(block);
  }
  lock_drop(thread_front_lock());
  ht_hook_end(thread);
}

static void put_back_locked(const struct gpu_block *taken) {
  struct gpu_block *block = block_find_locked(taken->space, taken->key), whole = *taken;
  whole.references = 1;
  if (block)
    block->references++;
  else
    block_put_locked(&whole);
}

static void late_add(struct gpu_late *late, const struct gpu_block *block) {
  late->bytes += block->size_bytes;
  late->blocks++;
}

// The runtime is gone before the block was given back.
static bool is_lost(hip_status status) { return status == HIP_DEINITIALIZED && life_is_ending(); }

static void taken_end_locked(struct hip_call *call, hip_status status) {
  const struct gpu_block *taken = &call->taken;
  bool lost = is_lost(status);
  if (status != HIP_SUCCESS && !lost)
    put_back_locked(taken);
  else if (!taken->references) {
    block_uncount_locked(call->thread, taken, call->temporary);
    if (taken->kind != GPU_NOT_COUNTED && life_is_ending()) late_add(lost ? &gpu_late_lost : &gpu_late_frees, taken);
  }
}

void call_taken_end(struct hip_call *call, hip_status status) {
  struct thread *thread = call->thread;
  if (!call->taken.key || !call_record_begin(call)) return;
  if (status == HIP_SUCCESS || is_lost(status)) ht_called(thread, 0, call->taken.size_bytes);
  lock_take(thread_front_lock());
  taken_end_locked(call, status);
  lock_drop(thread_front_lock());
  ht_hook_end(thread);
}

void call_failed(struct hip_call *call, uint64_t asked_bytes) {
  if (asked_bytes == HOST_MEMORY || !call_record_begin(call)) return;
  memory_failure_note(call->thread, ht_site_all_lines(call->thread, call->frame, HT_KIND_DEVICE), asked_bytes,
                      device_index(call->device));
  ht_hook_end(call->thread);
}

uint64_t asked_of(struct hip_call *call, int device, uint64_t asked_bytes) {
  call->device = device;
  return asked_bytes;
}

// Capture by thread came with 5.3.
static bool is_newer_than_5_2(void) { return hip_major() != 5 || hip_real(HIP_hipStreamBeginCapture_spt); }

bool call_lent(const struct hip_call *call, const void *address) {
  return address != call->found || is_newer_than_5_2();
}

// ---- what a call made

void made(struct hip_call *call, enum gpu_space space, void *key, uint64_t size_bytes, enum ht_kind kind) {
  if (!size_bytes) return;
  account_add(call, (struct gpu_block){.key = (uintptr_t)key,
                                       .size_bytes = size_bytes,
                                       .space = (uint8_t)space,
                                       .kind = (uint8_t)kind,
                                       .device = device_index(gpu_current_device)});
}

// On the pool's device and of its kind, or on the stream's; of a stream that is counted with others (GPU_STREAMS_MAX)
// the device is not known.
static struct gpu_block async_block_locked(void *pool, void *handle) {
  struct gpu_block block = {.space = SPACE_POINTER, .kind = HT_KIND_DEVICE};
  const struct gpu_block *known_pool = pool ? block_find_locked(SPACE_POOL, (uintptr_t)pool) : NULL;
  block.stream = stream_find_locked(handle, gpu_current_device);
  const struct gpu_stream *stream = &gpu_streams[block.stream - 1];
  block.device = stream_is(stream, handle) ? stream->device : device_index(gpu_current_device);
  if (stream->capturing) block.flags = GPU_BLOCK_GRAPH;
  if (known_pool) {
    block.device = known_pool->device;
    block.kind = (uint8_t)known_pool->owner;
  }
  return block;
}

static bool async_block(struct hip_call *call, void *pool, void *handle, struct gpu_block *block) {
  if (!call_record_begin(call)) return false;
  lock_take(thread_front_lock());
  *block = async_block_locked(pool, handle);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
  return true;
}

uint64_t asked_async(struct hip_call *call, void *pool, void *stream, uint64_t asked_bytes) {
  struct gpu_block block;
  if (!async_block(call, pool, stream, &block)) return asked_bytes;
  return block.kind == HT_KIND_PINNED ? HOST_MEMORY : asked_of(call, block.device, asked_bytes);
}

void made_async(struct hip_call *call, void *pointer, uint64_t size_bytes, void *pool, void *stream) {
  struct gpu_block block;
  if (!size_bytes || !async_block(call, pool, stream, &block)) return;
  block.key = (uintptr_t)pointer;
  block.size_bytes = size_bytes;
  account_add(call, block);
}

// No new bytes: the pages are the program's, and counted where it got them.
void made_registered(struct hip_call *call, void *pointer, uint64_t size_bytes) {
  account_add(call, (struct gpu_block){.key = (uintptr_t)pointer,
                                       .owner = size_bytes,
                                       .space = SPACE_REGISTERED,
                                       .kind = HT_KIND_PINNED,
                                       .flags = GPU_BLOCK_REGISTERED,
                                       .device = device_index(gpu_current_device)});
}

static bool referenced_once_more(enum gpu_space space, void *key) {
  lock_take(thread_front_lock());
  struct gpu_block *block = block_find_locked(space, (uintptr_t)key);
  if (block) block->references++;
  lock_drop(thread_front_lock());
  return block != NULL;
}

// Opening a handle twice gives the same pointer, to be closed twice (hipIpcOpenMemHandle).
void made_imported(struct hip_call *call, enum gpu_space space, void *key, uint64_t size_bytes) {
  if (!call_record_begin(call)) return;
  bool again = space == SPACE_IPC && referenced_once_more(space, key);
  ht_hook_end(call->thread);
  if (again) return;
  account_add(call, (struct gpu_block){.key = (uintptr_t)key,
                                       .owner = size_bytes,
                                       .space = (uint8_t)space,
                                       .kind = HT_KIND_DEVICE,
                                       .flags = GPU_BLOCK_IMPORTED,
                                       .device = device_index(gpu_current_device)});
}

void made_pool(struct hip_call *call, void *pool, int device, enum ht_kind kind) {
  account_add(call, (struct gpu_block){.key = (uintptr_t)pool,
                                       .owner = kind,
                                       .space = SPACE_POOL,
                                       .kind = GPU_NOT_COUNTED,
                                       .device = device_index(device)});
}

void pool_seen(struct hip_call *call, void *pool, int device) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  bool known = block_find_locked(SPACE_POOL, (uintptr_t)pool) != NULL;
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
  if (!known) made_pool(call, pool, device, HT_KIND_DEVICE);
}

void made_own_pool(struct hip_call *call, void *pool, const struct hip_pool_properties *properties) {
  if (!properties) return;
  bool is_host = properties->location_type >= HIP_LOCATION_HOST;
  bool is_managed = properties->type == HIP_ALLOCATION_MANAGED;
  enum ht_kind kind = is_managed ? HT_KIND_MANAGED : is_host ? HT_KIND_PINNED : HT_KIND_DEVICE;
  made_pool(call, pool, is_host ? gpu_current_device : properties->device, kind);
}

void made_reservation(struct hip_call *call, void *pointer, uint64_t size_bytes) {
  account_add(call, (struct gpu_block){.key = (uintptr_t)pointer,
                                       .size_bytes = size_bytes,
                                       .space = SPACE_RESERVATION,
                                       .kind = GPU_NOT_COUNTED,
                                       .device = device_index(gpu_current_device)});
}

// hipMemLocation: where physical memory is.
struct place {
  int type, device;
};

static struct place physical_place(const void *properties) {
  struct place place = {0, gpu_current_device};
  int major = hip_major();
  size_t at = major && major < 6 ? HIP_ALLOCATION_DEVICE_5 : HIP_ALLOCATION_DEVICE;
  if (properties) memcpy(&place, (const char *)properties + at - sizeof place.type, sizeof place);
  if (place.type >= HIP_LOCATION_HOST) place.device = gpu_current_device;
  return place;
}

uint64_t asked_physical(struct hip_call *call, const void *properties, uint64_t asked_bytes) {
  struct place place = physical_place(properties);
  return place.type >= HIP_LOCATION_HOST ? HOST_MEMORY : asked_of(call, place.device, asked_bytes);
}

void made_physical(struct hip_call *call, void *handle, uint64_t size_bytes, const void *properties) {
  struct place place = physical_place(properties);
  bool is_host = place.type >= HIP_LOCATION_HOST;
  account_add(call, (struct gpu_block){.key = (uintptr_t)handle,
                                       .size_bytes = size_bytes,
                                       .space = SPACE_HANDLE,
                                       .kind = is_host ? HT_KIND_PINNED : HT_KIND_DEVICE,
                                       .device = device_index(place.device)});
}

// ---- handles and mappings

#define RETAINS_SINCE_MAJOR 7 // hipMemRetainAllocationHandle adds a reference from ROCm 7.0 on

void handle_retained(struct hip_call *call, void *handle) {
  if (hip_major() < RETAINS_SINCE_MAJOR || !call_record_begin(call)) return;
  referenced_once_more(SPACE_HANDLE, handle);
  ht_hook_end(call->thread);
}

void mapping_made(struct hip_call *call, void *pointer, uint64_t size_bytes, void *handle) {
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  struct gpu_block *physical = block_find_locked(SPACE_HANDLE, (uintptr_t)handle);
  if (physical) physical->references++;
  uint8_t device = physical ? physical->device : device_index(gpu_current_device);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
  account_add(call, (struct gpu_block){.key = (uintptr_t)pointer,
                                       .size_bytes = size_bytes,
                                       .owner = (uintptr_t)handle,
                                       .space = SPACE_MAPPING,
                                       .kind = GPU_NOT_COUNTED,
                                       .device = device});
}

struct unmapping {
  struct thread *thread;
  uintptr_t start, end;
  uintptr_t handle; // of the mapping that was taken out last
};

static bool mapping_keep(struct gpu_block *block, void *context) {
  struct unmapping *unmapping = context;
  if (unmapping->handle || block->space != SPACE_MAPPING || block->key < unmapping->start ||
      block->key >= unmapping->end)
    return true;
  unmapping->handle = block->owner;
  pieces_container_end_locked(block);
  return false;
}

static void handle_drop_locked(struct thread *thread, uintptr_t handle) {
  struct gpu_block *physical = block_find_locked(SPACE_HANDLE, handle);
  if (physical && --physical->references == 0) account_remove_locked(thread, physical, false);
}

// Those that begin where the one before ends, as far as they do: each is found without a walk through the table, which
// holds tens of thousands of them when a framework's segments expand.
static uintptr_t mappings_end_in_turn_locked(struct thread *thread, uintptr_t start, uintptr_t end) {
  struct gpu_block *block;
  while (start < end && (block = block_find_locked(SPACE_MAPPING, start))) {
    struct gpu_block gone = *block;
    pieces_container_end_locked(block);
    block_remove_locked(block);
    handle_drop_locked(thread, gone.owner);
    start += gone.size_bytes;
  }
  return start;
}

// One call may end several mappings, each of a handle that may go with it.
void mappings_ended(struct hip_call *call, void *pointer, uint64_t size_bytes) {
  struct unmapping unmapping = {call->thread, (uintptr_t)pointer, (uintptr_t)pointer + size_bytes, 0};
  if (!call_record_begin(call)) return;
  ht_called(call->thread, 0, size_bytes);
  lock_take(thread_front_lock());
  unmapping.start = mappings_end_in_turn_locked(call->thread, unmapping.start, unmapping.end);
  while (unmapping.start < unmapping.end) {
    unmapping.handle = 0;
    block_each_locked(mapping_keep, &unmapping);
    if (!unmapping.handle) break;
    handle_drop_locked(call->thread, unmapping.handle);
  }
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

// ---- graphics

void graphics_mapped(struct hip_call *call, int count, void *const *resources) {
  for (int i = 0; i < count; i++) made_imported(call, SPACE_GRAPHICS, resources[i], 0);
}

void graphics_unmapped(struct hip_call *call, int count, void *const *resources) {
  for (int i = 0; i < count; i++) {
    call_take(call, SPACE_GRAPHICS, resources[i]);
    call_taken_end(call, HIP_SUCCESS);
  }
}

// ---- reset

struct reset {
  struct thread *thread;
  uint8_t device;
};

static bool is_of_graphs(enum gpu_space space) {
  return space == SPACE_GRAPH || space == SPACE_GRAPH_EXEC || space == SPACE_GRAPH_MEMORY;
}

// Host memory (pinned, registered, managed) belongs to the context of the host and stays.
static bool reset_keep(struct gpu_block *block, void *context) {
  struct reset *reset = context;
  bool goes = block->device == reset->device && (block->kind == HT_KIND_DEVICE || block->kind == GPU_NOT_COUNTED) &&
              !is_of_graphs((enum gpu_space)block->space);
  if (goes) {
    pieces_block_gone_locked(block);
    use_gone(block);
    if (block->kind != GPU_NOT_COUNTED)
      count_free(&reset->thread->count, block->site, (enum ht_kind)block->kind, block->size_bytes, false);
  }
  return !goes;
}

void device_reset(struct hip_call *call, int device) {
  struct reset reset = {call->thread, device_index(device)};
  if (!call_record_begin(call)) return;
  lock_take(thread_front_lock());
  pieces_all_end_locked(call->thread, reset.device);
  block_each_locked(reset_keep, &reset);
  streams_end_locked(reset.device);
  lock_drop(thread_front_lock());
  ht_hook_end(call->thread);
}

// ---- for the report

struct block_search {
  uintptr_t address;
  site_id site;
};

static bool block_holds(struct gpu_block *block, void *context) {
  struct block_search *search = context;
  bool is_memory = block->kind == HT_KIND_DEVICE && (block->space == SPACE_POINTER || block->space == SPACE_TENSOR);
  bool holds = is_memory && search->address - block->key < block->size_bytes;
  if (holds && (!search->site.value || block->space == SPACE_TENSOR))
    search->site = block->site; // the piece knows best
  return true;
}

site_id account_site_at(uintptr_t address) {
  struct block_search search = {.address = address};
  struct thread *thread = thread_self();
  if (!thread || thread->in_hook) return search.site;
  ht_hook_begin(thread);
  lock_take(thread_front_lock());
  block_each_locked(block_holds, &search);
  lock_drop(thread_front_lock());
  ht_hook_end(thread);
  return search.site;
}

// ---- sizes

uint64_t texel_bytes(const struct hip_channel_format *format) {
  uint64_t bits = 0;
  for (int i = 0; i < 4; i++) bits += (uint64_t)format->bits[i];
  return bits / 8;
}

// hipArray_Format, driver_types.h.
uint64_t element_bytes(int format, unsigned channels) {
  switch (format) {
  case 0x01: // UNSIGNED_INT8
  case 0x08: // SIGNED_INT8
    return channels;
  case 0x02: // UNSIGNED_INT16
  case 0x09: // SIGNED_INT16
  case 0x10: // HALF
    return 2ull * channels;
  default: // 32 bits
    return 4ull * channels;
  }
}

uint64_t array_bytes(uint64_t width, uint64_t height, uint64_t depth, unsigned levels, uint64_t texel) {
  uint64_t bytes = 0;
  for (unsigned level = 0; level < levels && level < 64; level++)
    bytes += at_least_one(width >> level) * at_least_one(height >> level) * at_least_one(depth >> level) * texel;
  return width ? bytes : 0;
}
