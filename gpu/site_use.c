#include "site_use.h"

#include "../native/report.h"
#include "../native/sys.h"

#define PLACES (2 * GPU_SITES_MAX)

struct gpu_site *gpu_sites;
uint32_t gpu_site_count;
static uint16_t *places; // by site, open addressing: its number + 1, 0: none; nothing is ever taken out

bool site_use_init(void) {
  places = sys_map(PLACES * sizeof *places);
  if (places) gpu_sites = sys_map(GPU_SITES_MAX * sizeof *gpu_sites);
  return gpu_sites != NULL;
}

static const char note_more_sites[] =
    "device memory came from more than 4096 sites: those beyond are not followed over time";

static struct gpu_site *entry_of(site_id site) {
  uint32_t at = (uint32_t)(site.value * 0x9E3779B97F4A7C15ull >> 32) % PLACES;
  while (places[at] && gpu_sites[places[at] - 1].site.value != site.value) at = (at + 1) % PLACES;
  if (!places[at]) {
    if (gpu_site_count == GPU_SITES_MAX) return report_note_add(note_more_sites), NULL;
    gpu_sites[gpu_site_count++].site = site;
    places[at] = (uint16_t)gpu_site_count;
  }
  return &gpu_sites[places[at] - 1];
}

void site_use_add_locked(site_id site, uint64_t bytes) {
  struct gpu_site *entry = gpu_sites ? entry_of(site) : NULL;
  if (entry) entry->live_bytes += bytes;
}

void site_use_subtract_locked(site_id site, uint64_t bytes) {
  struct gpu_site *entry = gpu_sites ? entry_of(site) : NULL;
  if (entry) entry->live_bytes -= bytes < entry->live_bytes ? bytes : entry->live_bytes;
}

void site_use_forget(void) {
  if (!gpu_sites) return;
  __builtin_memset(gpu_sites, 0, gpu_site_count * sizeof *gpu_sites);
  __builtin_memset(places, 0, PLACES * sizeof *places);
  gpu_site_count = 0;
  report_note_forget(note_more_sites);
}
