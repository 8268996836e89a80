#include "pinned_pools.h"

#include "../native/report_pinned.h"
#include "../native/sys.h"
#include "object_count.h"
#include "object_map.h"

#define FULL_PART 8u    // a pool with less than this part of it taken is held by few
#define BLOCKS_MAX 256u // more than that part of the largest pool, 16 KiB, has of the smallest blocks

struct share {
  uint64_t blocks, bytes;
};

static struct {
  uintptr_t page;
  uint32_t pairs[BLOCKS_MAX]; // of its blocks
  uint32_t count;             // of all of them
  size_t bytes;
  struct share *shares; // by site
  uint32_t share_count;
  struct share all;
} search;

static struct pinned_site kept[PINNED_SITES_MAX];
static uint32_t kept_count;

static uint32_t site_of(uint32_t pair) { return line_table[pair_lines[pair].value].site.value; }

// Each block of the pool takes the same share of its free bytes.
static void page_end(void) {
  size_t page_bytes = (size_t)1 << object_page_bits;
  if (!search.count || search.count > BLOCKS_MAX || search.bytes >= page_bytes / FULL_PART) return;
  uint64_t share = (page_bytes - search.bytes) / search.count;
  for (uint32_t i = 0; i < search.count; i++) {
    uint32_t site = site_of(search.pairs[i]);
    if (site >= search.share_count) continue;
    search.shares[site].blocks++;
    search.shares[site].bytes += share;
  }
  search.all.blocks += search.count;
  search.all.bytes += share * search.count;
}

static bool block_look(uintptr_t start, uint32_t pair, void *unused) {
  (void)unused;
  uintptr_t page = start >> object_page_bits;
  if (page != search.page) {
    page_end();
    search.page = page;
    search.count = 0;
    search.bytes = 0;
  }
  if (search.count < BLOCKS_MAX) search.pairs[search.count] = pair;
  search.count++;
  search.bytes += pair_table[pair].size_bytes;
  return true;
}

static void site_keep(uint32_t site, const struct share *share) {
  if (kept_count == PINNED_SITES_MAX) {
    if (kept[PINNED_SITES_MAX - 1].bytes >= share->bytes) return;
    kept_count--;
  }
  uint32_t at = kept_count++;
  for (; at > 0 && kept[at - 1].bytes < share->bytes; at--) kept[at] = kept[at - 1];
  kept[at] = (struct pinned_site){{site}, share->blocks, share->bytes};
}

void pinned_pools_find(void) {
  search.share_count = site_count;
  search.shares = sys_map(search.share_count * sizeof *search.shares);
  search.all = (struct share){0};
  search.page = 0, search.count = 0;
  kept_count = 0;
  if (!search.shares) return;
  object_map_each(block_look, NULL);
  page_end();
  for (uint32_t site = SITE_FIRST; site < search.share_count; site++)
    if (search.shares[site].blocks && !site_is_inherited((site_id){site})) site_keep(site, &search.shares[site]);
  sys_unmap(search.shares, search.share_count * sizeof *search.shares);
  struct pinned_site all = {{0}, search.all.blocks, search.all.bytes};
  pinned_front_set(&all, kept, kept_count);
}
