// What the driver says is in use (--gpu-timeline frag). These, and device_look's after an attach or a change of
// contexts (streams.h), are the only HIP calls that heaptide makes. They are made at the entry of a wrapper, where the
// program is about to call HIP itself: nothing of HIP's is held there, and what the program's own call leaves for
// hipGetLastError comes after.
#ifndef HT_DRIVER_USE_H
#define HT_DRIVER_USE_H

#include "account.h"

// From now on the driver is asked, at most once in `period_ns` for each device.
void driver_use_init(uint64_t period_ns);

// At the entry of an outermost wrapper, before its real call.
void driver_use_ask(struct hip_call *call);
void driver_use_ask_now(struct hip_call *call);
extern bool driver_use_wanted;

// HT_GPU_UNKNOWN: never asked. In use: above what was in use before the first allocation.
uint64_t driver_in_use_bytes(uint8_t device);
uint64_t driver_in_use_live_bytes(uint8_t device); // of the device, when its driver was asked
uint64_t driver_pool_unused_bytes(uint8_t device);

void driver_use_fork_child(void);
// After a dlclose, as hip_library_closed.
void driver_use_library_closed(void);

#endif
