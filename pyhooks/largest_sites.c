#include "largest_sites.h"

// Sorted by insertion: most sites are smaller than the last one, and looked at once.
uint32_t largest_sites(const int64_t *bytes, uint32_t end, site_id *sites, uint32_t max) {
  uint32_t found = 0;
  for (uint32_t id = 1; id < end; id++) {
    if (bytes[id] <= 0 || (found == max && bytes[sites[max - 1].value] >= bytes[id])) continue;
    uint32_t at = found < max ? found++ : max - 1;
    for (; at > 0 && bytes[sites[at - 1].value] < bytes[id]; at--) sites[at] = sites[at - 1];
    sites[at] = (site_id){id};
  }
  return found;
}
