// sources:
// Counters of a site that are 32 bits wide in memory, in programs that run for days.
#include "../../native/count.h"
#include "expect.h"

#include <stdio.h>

struct count_shared count_shared = {.epoch = 1};
static struct count_entry folded;
void count_entry_evict(struct count_entry *entry, uint32_t site) {
  folded = *entry;
  *entry = (struct count_entry){.site = site, .epoch = count_shared.epoch};
}

static void temporaries_carry(void) {
  struct site site = {.temporaries = UINT32_MAX - 1};
  site_temporaries_add(&site, 1);
  EXPECT(site_temporaries(&site) == UINT32_MAX);
  site_temporaries_add(&site, 1);
  EXPECT(site_temporaries(&site) == 1ull << 32);
  site_temporaries_add(&site, UINT32_MAX);
  EXPECT(site_temporaries(&site) == (1ull << 33) - 1);
}

static void full_deltas_are_folded(void) {
  static struct count count;
  site_id site = {5};
  struct count_entry *entry = count_entry_of(&count, site);
  entry->allocations = (1u << 31) - 1;
  EXPECT(count_entry_of(&count, site) == entry && entry->allocations == (1u << 31) - 1);
  entry->allocations++;
  entry->frees = 7;
  EXPECT(count_entry_of(&count, site) == entry && entry->allocations == 0 && entry->site == 5);
  EXPECT(folded.site == 5 && folded.allocations == 1u << 31 && folded.frees == 7);
  entry->frees = 1u << 31; // of blocks that other threads allocated
  EXPECT(count_entry_of(&count, site)->frees == 0 && folded.frees == 1u << 31);
}

int main(void) {
  temporaries_carry();
  full_deltas_are_folded();
  return failures != 0;
}
