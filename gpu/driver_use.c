#include "driver_use.h"

#include <string.h>

#include "../native/library_function.h"
#include "../native/sampler.h"
#include "hip_library.h"
#include "streams.h"

// hipMemPoolAttr, hip_runtime_api.h.
#define POOL_RESERVED_NOW 5 // hipMemPoolAttrReservedMemCurrent
#define POOL_USED_NOW 7     // hipMemPoolAttrUsedMemCurrent

struct driver_use {
  bool asked;
  uint64_t due_ns; // when it is to be asked again
  uint64_t at_first_bytes, in_use_bytes, live_bytes, pool_unused_bytes;
};

bool driver_use_wanted;
static uint64_t period_ns;
static struct driver_use uses[GPU_DEVICES_MAX];

// hipDeviceGetDefaultMemPool and hipMemPoolGetAttribute; NULL: not looked for yet, or HIP's library has none.
static void *pool_functions[2];
static bool pool_looked_for;

void driver_use_init(uint64_t period) {
  period_ns = period;
  driver_use_wanted = true;
}

static void functions_find(void) {
  static const char *const names[] = {"hipDeviceGetDefaultMemPool", "hipMemPoolGetAttribute"};
  if (__atomic_exchange_n(&pool_looked_for, true, __ATOMIC_RELAXED)) return;
  library_functions_find("libamdhip64.so", names, pool_functions, 2);
}

// Those that the library does not have may be in the next one.
void driver_use_library_closed(void) {
  bool first_gone = library_function_closed(&pool_functions[0]);
  bool second_gone = library_function_closed(&pool_functions[1]);
  if (first_gone || second_gone || !pool_functions[0]) __atomic_store_n(&pool_looked_for, false, __ATOMIC_RELEASE);
}

static uint64_t pool_unused_ask(int device) {
  void *pool = NULL;
  uint64_t reserved = 0, used = 0;
  functions_find();
  int (*pool_of)(void **, int) = (int (*)(void **, int))__atomic_load_n(&pool_functions[0], __ATOMIC_ACQUIRE);
  int (*attribute_of)(void *, int, void *) =
      (int (*)(void *, int, void *))__atomic_load_n(&pool_functions[1], __ATOMIC_ACQUIRE);
  if (!pool_of || !attribute_of || pool_of(&pool, device) != HIP_SUCCESS) return 0;
  if (attribute_of(pool, POOL_RESERVED_NOW, &reserved) != HIP_SUCCESS) return 0;
  if (attribute_of(pool, POOL_USED_NOW, &used) != HIP_SUCCESS) return 0;
  return reserved > used ? reserved - used : 0;
}

static void use_set(int device, size_t free_bytes, size_t total_bytes, uint64_t pool_unused) {
  struct driver_use *use = &uses[device_index(device)];
  uint64_t in_use = total_bytes - free_bytes;
  if (!use->asked) use->at_first_bytes = in_use;
  use->asked = true;
  use->in_use_bytes = in_use > use->at_first_bytes ? in_use - use->at_first_bytes : 0;
  use->live_bytes = gpu_devices[device_index(device)].use.live_bytes;
  use->pool_unused_bytes = pool_unused;
  device_total(device, total_bytes);
}

// Whatever HIP allocates for these answers is heaptide's doing, not the program's.
static void ask(struct thread *thread) {
  int (*real_function)(size_t *, size_t *) = (int (*)(size_t *, size_t *))hip_real(HIP_hipMemGetInfo);
  size_t free_bytes, total_bytes;
  if (!real_function || streams_are_captured()) return; // a stream that is being captured may not be disturbed
  thread->suspended = 1;
  if (real_function(&free_bytes, &total_bytes) == HIP_SUCCESS && free_bytes <= total_bytes)
    use_set(gpu_current_device, free_bytes, total_bytes, pool_unused_ask(gpu_current_device));
  thread->suspended = 0;
}

void driver_use_ask_now(struct hip_call *call) {
  struct driver_use *use = &uses[device_index(gpu_current_device)];
  uint64_t now_ns = sampler_elapsed_ns();
  if (use->asked && now_ns < __atomic_load_n(&use->due_ns, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&use->due_ns, now_ns + period_ns, __ATOMIC_RELAXED);
  ask(call->thread);
}

void driver_use_ask(struct hip_call *call) {
  if (driver_use_wanted && call->thread && call->outermost) driver_use_ask_now(call);
}

uint64_t driver_in_use_bytes(uint8_t device) { return uses[device].asked ? uses[device].in_use_bytes : HT_GPU_UNKNOWN; }
uint64_t driver_in_use_live_bytes(uint8_t device) {
  return uses[device].asked ? uses[device].live_bytes : HT_GPU_UNKNOWN;
}
uint64_t driver_pool_unused_bytes(uint8_t device) {
  return uses[device].asked ? uses[device].pool_unused_bytes : HT_GPU_UNKNOWN;
}

void driver_use_fork_child(void) { memset(uses, 0, sizeof uses); }
