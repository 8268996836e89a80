#include "object_types.h"

#include <string.h>

#include "../native/sys.h"
#include "largest_sites.h"
#include "object_blocks.h"
#include "object_fields.h"
#include "object_map.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

// ---- what was met: a bit for each 16 bytes of address space that holds such blocks

#define MARKS_LEAF_BYTES ((size_t)1 << (OBJECT_LEAF_BITS - 4 - 3))
#define LEAVES (sizeof object_leaves / sizeof *object_leaves)
static uint8_t *marks[LEAVES];

static void marks_drop(void) {
  for (size_t i = 0; i < LEAVES; i++) {
    if (marks[i]) sys_unmap(marks[i], MARKS_LEAF_BYTES);
    marks[i] = NULL;
  }
}

bool object_types_first(uintptr_t address) {
  if (address >> OBJECT_ADDRESS_BITS) return true;
  uint8_t **leaf = &marks[address >> OBJECT_LEAF_BITS];
  if (!*leaf) *leaf = sys_map(MARKS_LEAF_BYTES);
  if (!*leaf) return true;
  size_t granule = (address & ((1ull << OBJECT_LEAF_BITS) - 1)) >> 4;
  uint8_t bit = (uint8_t)(1 << (granule & 7)), *place = &(*leaf)[granule >> 3];
  bool first = !(*place & bit);
  *place |= bit;
  return first;
}

// ---- counts by site and type: open addressing

struct type_count {
  const void *type; // NULL: empty
  site_id site;
  uint32_t blocks;
  uint64_t bytes;
};
static struct type_count *counts;
static uint32_t counts_capacity, counts_used;

static uint32_t count_slot(site_id site, const void *type) {
  uint64_t hash = ((uintptr_t)type >> 4 ^ (uint64_t)site.value << 32) * MULTIPLIER;
  uint32_t mask = counts_capacity - 1, at = (uint32_t)(hash >> 32) & mask;
  while (counts[at].type && (counts[at].type != type || counts[at].site.value != site.value)) at = (at + 1) & mask;
  return at;
}

static bool counts_reserve(void) {
  if (counts_used * 2 < counts_capacity) return true;
  uint32_t old_capacity = counts_capacity, capacity = old_capacity ? old_capacity * 2 : 4096;
  struct type_count *old = counts, *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return counts_used + 1 < counts_capacity;
  counts = larger;
  counts_capacity = capacity;
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i].type) counts[count_slot(old[i].site, old[i].type)] = old[i];
  if (old) sys_unmap(old, old_capacity * sizeof *old);
  return true;
}

static void count_add(site_id site, const void *type, size_t bytes) {
  if (!site.value || !counts_reserve()) return;
  struct type_count *count = &counts[count_slot(site, type)];
  if (!count->type) counts_used++;
  count->type = type;
  count->site = site;
  count->blocks++;
  count->bytes += bytes;
}

static const void *type_of(const void *object) { return ((const struct python_object *)object)->type; }

site_id object_types_add_object(const void *object) {
  struct block block = object_block_at((uintptr_t)object);
  count_add(block.site, type_of(object), block.size_bytes);
  return block.site;
}

void object_types_add_buffer(const struct block *block, const void *owner) {
  if (object_types_first(block->start)) count_add(block->site, type_of(owner), block->size_bytes);
}

void object_types_begin(void) { object_types_drop(); }

void object_types_drop(void) {
  marks_drop();
  if (counts) sys_unmap(counts, counts_capacity * sizeof *counts);
  counts = NULL;
  counts_capacity = counts_used = 0;
}

// ---- the largest of each site

static struct kept {
  struct site_type types[TYPED_SITES_MAX][TYPES_OF_SITE];
  uint32_t count; // sites
} kept_all[TYPES_OF_COUNT];

static void kept_set(enum types_of which) {
  types_front_set(which, kept_all[which].types[0], kept_all[which].count * TYPES_OF_SITE);
}

// Keeps a site's types sorted by bytes, falling. Types without a name yet: the type itself stands in for it.
static void type_insert(struct site_type *types, const struct type_count *count) {
  uint32_t at = TYPES_OF_SITE;
  while (at > 0 && types[at - 1].bytes <= count->bytes) at--;
  if (at == TYPES_OF_SITE) return;
  memmove(&types[at + 1], &types[at], (TYPES_OF_SITE - 1 - at) * sizeof *types);
  types[at] = (struct site_type){.site = count->site, .blocks = count->blocks, .bytes = count->bytes};
  size_t length = strnlen(object_own_name(count->type), TYPE_NAME_BYTES - 1);
  memcpy(types[at].name, object_own_name(count->type), length);
}

void object_types_keep(enum types_of which, const site_id *sites, uint32_t count) {
  struct kept *kept = &kept_all[which];
  uint32_t end = site_count;
  uint16_t *place = sys_map(end * sizeof *place); // by site: its index in `kept` + 1
  memset(kept, 0, sizeof *kept);
  kept_set(which);
  if (!place) return;
  for (; kept->count < count && kept->count < TYPED_SITES_MAX; kept->count++)
    place[sites[kept->count].value] = (uint16_t)(kept->count + 1);
  for (uint32_t i = 0; i < counts_capacity; i++) {
    const struct type_count *one = &counts[i];
    uint16_t index = one->type && one->site.value < end ? place[one->site.value] : 0;
    if (index) type_insert(kept->types[index - 1], one);
  }
  sys_unmap(place, end * sizeof *place);
  kept_set(which);
}

uint32_t object_types_sites(site_id *sites, uint32_t max) {
  uint32_t end = site_count;
  int64_t *bytes = sys_map(end * sizeof *bytes); // by site
  if (!bytes) return 0;
  for (uint32_t i = 0; i < counts_capacity; i++)
    if (counts[i].type && counts[i].site.value < end) bytes[counts[i].site.value] += (int64_t)counts[i].bytes;
  uint32_t found = largest_sites(bytes, end, sites, max);
  sys_unmap(bytes, end * sizeof *bytes);
  return found;
}

void object_types_fork_child(void) {
  for (int which = 0; which < TYPES_OF_COUNT; which++) {
    kept_all[which].count = 0;
    kept_set((enum types_of)which);
  }
}
