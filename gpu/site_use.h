// What each site holds of device memory (`--gpu-timeline sites`). Counted here once more than in native's counters,
// which threads keep to themselves for a while: these are exact at any moment, and together they are the devices'.
// Sites that allocate on a GPU are few. All under thread_front_lock().
#ifndef HT_SITE_USE_H
#define HT_SITE_USE_H

#include "../native/words.h"

#define GPU_SITES_MAX 4096u // sites beyond are not followed

struct gpu_site {
  site_id site;
  uint64_t live_bytes;
};

extern struct gpu_site *gpu_sites; // NULL: not followed
extern uint32_t gpu_site_count;

// Once, before anything is recorded. False: no memory.
bool site_use_init(void);

void site_use_add_locked(site_id site, uint64_t bytes);
void site_use_subtract_locked(site_id site, uint64_t bytes);

// In the fork child.
void site_use_forget(void);

#endif
