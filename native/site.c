#include "site.h"

#include "count.h"
#include "lock.h"
#include "site_counters.h"
#include "stack_table.h"
#include "sys.h"

#define FIRST_BITS 9

static uint32_t *followers; // by site: the one that followed it last time, 0: none

struct site *site_table;
uint32_t site_count = SITE_FIRST;
uint32_t site_inherited = 1;
uint32_t site_reserved_first;
static uint32_t sites_max = 1u << LIVE_MAP_SITE_BITS;
static struct lock sites_lock = LOCK_INIT(LOCK_RANK_SITES); // guards making sites, frames, nodes

// Slots are the hash's upper bits and the id, 0: empty. Readers take no lock; a full table is replaced by a larger one,
// and the old one stays mapped for readers that are still in it.
struct site_lookup {
  uint32_t shift, mask, used;
  uint32_t slots[];
};
#define SLOT_ID ((1u << LIVE_MAP_SITE_BITS) - 1)
static struct site_lookup *lookup_now;

static size_t lookup_bytes(uint32_t bits) { return sizeof(struct site_lookup) + (sizeof lookup_now->slots[0] << bits); }

static struct site_lookup *lookup_new(uint32_t bits) {
  struct site_lookup *lookup = sys_map(lookup_bytes(bits));
  if (!lookup) return NULL;
  lookup->shift = 64 - bits;
  lookup->mask = (1u << bits) - 1;
  return lookup;
}

// From the id `first` on.
static void reserved_sites_make(uint32_t first, uint32_t node) {
  site_reserved_first = first;
  for (uint32_t which = 0; which < SITE_RESERVED_COUNT; which++)
    site_at(site_reserved(which))->node = node & NODE_ID_MOST;
  site_at(site_reserved(SITE_SIGNAL_MAP))->kind = HT_KIND_MMAP;
  for (uint8_t kind = 0; kind < HT_KIND_COUNT; kind++)
    site_at(site_reserved(SITE_OVERFLOW + kind))->kind = kind & SITE_KIND;
}

#define SITES_LEAST 32768 // under a limit of the address space
#define SITE_LARGEST_ROW sizeof(struct site_wide)

void site_shrink_locked(size_t share_bytes) {
  uint32_t max = sys_table_room(sites_max, SITE_LARGEST_ROW, site_count, SITES_LEAST, share_bytes);
  sys_trim(site_table, sites_max * sizeof(struct site), max * sizeof(struct site));
  sys_trim(followers, sites_max * sizeof *followers, max * sizeof *followers);
  site_counters_shrink_locked(sites_max, max);
  sites_max = max;
}

bool site_init(void) {
  sites_max = sys_table_room(sites_max, SITE_LARGEST_ROW, 0, 2 * SITES_LEAST, sys_address_space_share());
  for (; sites_max >= 4096 && !site_table; sites_max /= site_table ? 1 : 2)
    site_table = sys_map(sites_max * sizeof(struct site));
  followers = sys_map(sites_max * sizeof *followers);
  lookup_now = lookup_new(FIRST_BITS);
  if (!site_table || !followers || !lookup_now || !site_counters_init(sites_max)) return false;
  reserved_sites_make(1, node_intern_locked(0, FRAME_TRUNCATED));
  return true;
}

struct lock *site_lock(void) {
  return &sites_lock;
}

static uint32_t slot_tag(uint64_t hash) { return (uint32_t)(hash >> 32) & ~SLOT_ID; }
static uint32_t first_slot(const struct site_lookup *lookup, uint64_t hash) {
  return (uint32_t)((hash * 0x9E3779B97F4A7C15ull) >> lookup->shift);
}

static uint32_t lookup_find(const struct site_lookup *lookup, uint64_t hash) {
  for (uint32_t at = first_slot(lookup, hash);; at = (at + 1) & lookup->mask) {
    uint32_t slot = __atomic_load_n(&lookup->slots[at], __ATOMIC_ACQUIRE), id = slot & SLOT_ID;
    if (!slot) return 0;
    if ((slot & ~SLOT_ID) == slot_tag(hash) && site_table[id].hash == hash) return id;
  }
}

static void lookup_put(struct site_lookup *lookup, uint64_t hash, uint32_t id) {
  uint32_t at = first_slot(lookup, hash);
  while (lookup->slots[at]) at = (at + 1) & lookup->mask;
  __atomic_store_n(&lookup->slots[at], slot_tag(hash) | id, __ATOMIC_RELEASE);
  lookup->used++;
}

static struct site_lookup *lookup_with_room_locked(void) {
  struct site_lookup *lookup = lookup_now;
  if (lookup->used * 4ull < lookup->mask * 3ull) return lookup;
  struct site_lookup *larger = lookup_new(64 - lookup->shift + 1);
  if (!larger) return lookup->used + 1 < lookup->mask ? lookup : NULL;
  for (uint32_t id = site_reserved_first + SITE_RESERVED_COUNT; id < site_count; id++)
    lookup_put(larger, site_table[id].hash, id);
  __atomic_store_n(&lookup_now, larger, __ATOMIC_RELEASE);
  if (!count_many_threads()) sys_unmap(lookup, lookup_bytes(64 - lookup->shift));
  return larger;
}

static uint32_t site_make_locked(uint64_t hash, enum ht_kind kind, node_id node) {
  struct site_lookup *lookup = lookup_with_room_locked();
  if (!lookup || site_count == sites_max) return site_reserved(SITE_OVERFLOW + kind).value;
  uint32_t id = site_count;
  struct site *site = &site_table[id];
  site->hash = hash;
  site->node = node.value & NODE_ID_MOST;
  site->kind = kind & SITE_KIND;
  __atomic_store_n(&site_count, id + 1, __ATOMIC_RELEASE);
  lookup_put(lookup, hash, id);
  return id;
}

static HT_NOINLINE uint32_t site_look_up(uint64_t hash, enum ht_kind kind, node_id (*node_of)(void *), void *context) {
  uint32_t id = lookup_find(__atomic_load_n(&lookup_now, __ATOMIC_ACQUIRE), hash);
  if (likely(id)) return id;
  lock_take(&sites_lock);
  id = lookup_find(lookup_now, hash); // another thread may have made it meanwhile
  if (!id) id = site_make_locked(hash, kind, node_of(context));
  lock_drop(&sites_lock);
  return id;
}

site_id site_known(uint64_t hash, site_id before) {
  uint32_t next = followers[before.value];
  if (next && site_table[next].hash == hash) return (site_id){next};
  return (site_id){lookup_find(__atomic_load_n(&lookup_now, __ATOMIC_ACQUIRE), hash)};
}

site_id site_find(uint64_t hash, enum ht_kind kind, site_id before, node_id (*node_of)(void *), void *context) {
  uint32_t id = followers[before.value];
  if (likely(id && site_table[id].hash == hash)) return (site_id){id};
  id = site_look_up(hash, kind, node_of, context);
  followers[before.value] = id;
  return (site_id){id};
}

void site_fork_child(void) {
  struct site_lookup *fresh = lookup_new(FIRST_BITS);
  // Else the parent's sites are used on: their counters then hold the parent's figures too.
  if (!fresh || sites_max - site_count < SITE_RESERVED_COUNT) return;
  lookup_now = fresh;
  followers[0] = 0; // what a thread that has no last site begins with
  site_inherited = site_count;
  reserved_sites_make(site_count, site_at(site_reserved(SITE_SIGNAL))->node);
  site_count += SITE_RESERVED_COUNT;
}
