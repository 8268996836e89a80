#include "report_shared.h"

#include <fcntl.h>
#include <string.h>

#include "live.h"
#include "maps.h"
#include "owner.h"
#include "process_info.h"
#include "ranges.h"
#include "resident.h"
#include "site.h"
#include "spans.h"
#include "stack_table.h"
#include "sys.h"

#define PAGE_SHIFT 12
#define PAGE_BYTES (1ul << PAGE_SHIFT)
#define ENTRIES 4096u // one read tells about 16 MiB

// Documentation/admin-guide/mm/pagemap.rst of Linux: bit 63 "page present", bit 61 "page is file-page or shared-anon",
// bit 56 "page exclusively mapped".
#define PAGE_PRESENT (1ull << 63)
#define PAGE_OF_FILE (1ull << 61)
#define PAGE_EXCLUSIVE (1ull << 56)

// Of this library, by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool forks;      // or was forked
static int forked_from; // 0: began with exec, or was attached to
static struct {
  bool known;
  uint64_t resident_bytes, anonymous_bytes, shared_bytes;
  struct spans spans;                             // the shared pages
  struct ht_file_shared_site sites[SHARED_SITES]; // `site` is the recorder's
  uint32_t site_count;
} found;

void shared_pages_fork_parent(void) { __atomic_store_n(&forks, true, __ATOMIC_RELAXED); }

void shared_pages_fork_child(int parent_pid) {
  forks = true;
  forked_from = parent_pid;
  shared_pages_drop();
}

// ---- pages

struct look {
  int fd;
  uint64_t *entries;
};

static void page_add(uint64_t entry, uintptr_t start) {
  if (!(entry & PAGE_PRESENT) || entry & PAGE_OF_FILE) return;
  found.anonymous_bytes += PAGE_BYTES;
  if (entry & PAGE_EXCLUSIVE) return;
  found.shared_bytes += PAGE_BYTES;
  spans_add(&found.spans, start, start + PAGE_BYTES);
}

// [start, end) has data, in whole pages.
static void run_look(const struct look *look, uintptr_t start, uintptr_t end) {
  while (start < end) {
    size_t wanted = (end - start) >> PAGE_SHIFT;
    if (wanted > ENTRIES) wanted = ENTRIES;
    long got = sys_call4(SYS_pread64, look->fd, (long)look->entries, (long)(wanted * sizeof(uint64_t)),
                         (long)((start >> PAGE_SHIFT) * sizeof(uint64_t)));
    if (got < (long)sizeof(uint64_t)) return;
    for (size_t i = 0; i < (size_t)got / sizeof(uint64_t); i++, start += PAGE_BYTES) page_add(look->entries[i], start);
  }
}

static void part_look(uintptr_t start, uintptr_t end, void *context) {
  uintptr_t run_end;
  for (; resident_next(&start, &run_end, end, true); start = run_end) run_look(context, start, run_end);
}

static void own_add(uintptr_t start, uintptr_t end, void *own) {
  if (start) spans_add(own, start, end);
}

static void own_collect(struct spans *own) {
  sys_own_each(own_add, own);
  spans_add(own, (uintptr_t)__ehdr_start & ~(PAGE_BYTES - 1), ((uintptr_t)_end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
  spans_sort(own);
}

// [vdso], [vvar] and their like: the same pages in every process.
static bool is_kernels(const struct mapping *mapping) { return strncmp(mapping->path, "[v", 2) == 0; }

static void mappings_look(const struct look *look) {
  struct maps maps;
  struct spans own = {0};
  resident_begin();
  if (maps_read(&maps)) {
    own_collect(&own); // last: what was mapped for this is heaptide's as well
    for (uint32_t i = 0; i < maps.count; i++)
      if (!(maps.table[i].flags & MAPS_SHARED) && !is_kernels(&maps.table[i]))
        spans_gaps(&own, maps.table[i].start, maps.table[i].end, part_look, (void *)look);
    found.known = !own.full && !found.spans.full;
  }
  resident_end();
  maps_drop(&maps);
  spans_drop(&own);
}

void shared_pages_look(void) {
  shared_pages_drop();
  if (!__atomic_load_n(&forks, __ATOMIC_RELAXED)) return;
  struct look look = {.fd = sys_open("/proc/self/pagemap", O_RDONLY, 0)};
  if (look.fd < 0) return;
  look.entries = sys_map(ENTRIES * sizeof *look.entries);
  if (look.entries) {
    uint64_t resident_bytes = process_rss_bytes(), own_bytes = process_own_bytes();
    found.resident_bytes = resident_bytes > own_bytes ? resident_bytes - own_bytes : 0;
    mappings_look(&look);
    sys_unmap(look.entries, ENTRIES * sizeof *look.entries);
  }
  sys_close(look.fd);
  spans_sort(&found.spans);
}

// ---- whose they are

struct owners {
  uint64_t *bytes; // by the recorder's site
  uint32_t site_end;
  uint32_t at; // the span that the last block met
};

// The first span that ends behind `address`.
static uint32_t span_behind(uint32_t at, uintptr_t address) {
  const struct span *table = found.spans.table;
  if (at < found.spans.count && table[at].end > address && (at == 0 || table[at - 1].end <= address)) return at;
  uint32_t low = 0, high = found.spans.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (table[middle].end > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void owner_add(struct owners *owners, uintptr_t start, uintptr_t end, uint32_t site) {
  if (!site || site >= owners->site_end) return;
  owners->at = span_behind(owners->at, start);
  for (uint32_t i = owners->at; i < found.spans.count && found.spans.table[i].start < end; i++) {
    const struct span *span = &found.spans.table[i];
    uintptr_t from = span->start > start ? span->start : start, to = span->end < end ? span->end : end;
    if (from < to) owners->bytes[site] += to - from;
  }
}

static bool block_add(const struct block *block, void *owners) {
  owner_add(owners, block->start, block->start + block->size_bytes, block->site.value);
  return true;
}

static void ranges_add(struct owners *owners) {
  uint32_t count;
  const struct range *ranges = range_array(&count);
  for (uint32_t i = 0; i < count; i++) owner_add(owners, ranges[i].start, ranges[i].end, ranges[i].site.value);
}

// Whether two stacks are the same, whatever thread they are of.
static bool stack_equal(uint32_t one, uint32_t other) {
  while (node_is_frame(one) && node_is_frame(other)) {
    if (one == other) return true;
    if (node_table[one].frame != node_table[other].frame) return false;
    one = node_table[one].parent;
    other = node_table[other].parent;
  }
  return !node_is_frame(one) && !node_is_frame(other);
}

static uint64_t stack_hash(uint32_t node) {
  uint64_t hash = 0;
  for (; node_is_frame(node); node = node_table[node].parent)
    hash = (hash ^ node_table[node].frame) * 0x9E3779B97F4A7C15ull;
  return hash;
}

static bool is_same_site(uint32_t one, uint32_t other) {
  return site_table[one].kind == site_table[other].kind && stack_equal(site_table[one].node, site_table[other].node);
}

// The place in `table`, of `capacity` sites or 0, where the first site that is the same but for its thread stands, or
// will.
static uint32_t *same_place(uint32_t *table, uint64_t capacity, uint32_t site) {
  uint64_t at = (stack_hash(site_table[site].node) >> 20) & (capacity - 1);
  while (table[at] && !is_same_site(table[at], site)) at = (at + 1) & (capacity - 1);
  return &table[at];
}

// With --per-thread a site of the program is one for each of its threads: the first gets what all hold.
static void threads_join(struct owners *owners) {
  uint64_t capacity = 64;
  while (capacity < 2ull * owners->site_end) capacity *= 2;
  uint32_t *table = owners_on ? sys_map(capacity * sizeof *table) : NULL;
  if (!table) return;
  for (uint32_t id = 1; id < owners->site_end; id++) {
    if (!owners->bytes[id]) continue;
    uint32_t *first = same_place(table, capacity, id);
    if (*first) {
      owners->bytes[*first] += owners->bytes[id];
      owners->bytes[id] = 0;
    } else
      *first = id;
  }
  sys_unmap(table, capacity * sizeof *table);
}

static void site_insert(uint32_t site, uint64_t bytes) {
  uint32_t at = found.site_count;
  if (at == SHARED_SITES && found.sites[--at].bytes >= bytes) return;
  for (; at > 0 && found.sites[at - 1].bytes < bytes; at--) found.sites[at] = found.sites[at - 1];
  found.sites[at] = (struct ht_file_shared_site){.site = site, .bytes = bytes};
  found.site_count += found.site_count < SHARED_SITES;
}

void shared_pages_find(struct report_tables *tables) {
  struct owners owners = {.site_end = tables->site_end};
  found.site_count = 0;
  if (!found.known || !found.spans.count) return;
  owners.bytes = sys_map(owners.site_end * sizeof *owners.bytes);
  if (!owners.bytes) return;
  live_walk(block_add, &owners);
  ranges_add(&owners);
  threads_join(&owners);
  for (uint32_t id = 1; id < owners.site_end; id++)
    if (owners.bytes[id]) site_insert(id, owners.bytes[id]);
  sys_unmap(owners.bytes, owners.site_end * sizeof *owners.bytes);
  for (uint32_t i = 0; i < found.site_count; i++) tables_want(tables, (site_id){found.sites[i].site});
}

// ---- sections

static void resident_write(struct writer *writer) {
  struct ht_file_resident row = {
      .forked_from = (uint32_t)forked_from,
      .flags = found.known ? HT_RESIDENT_KNOWN : 0,
      .resident_bytes = found.resident_bytes,
      .anonymous_bytes = found.anonymous_bytes,
      .shared_bytes = found.shared_bytes,
  };
  writer_section(writer, HT_SECTION_RESIDENT);
  if (forks) writer_add(writer, &row, sizeof row);
  writer_section_end(writer);
}

void shared_pages_write(const struct report_tables *tables, struct writer *writer) {
  resident_write(writer);
  writer_section(writer, HT_SECTION_SHARED_SITES);
  for (uint32_t i = 0; i < found.site_count; i++) {
    struct ht_file_shared_site row = {.site = tables_site(tables, (site_id){found.sites[i].site}),
                                      .bytes = found.sites[i].bytes};
    if (row.site) writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

void shared_pages_drop(void) {
  spans_drop(&found.spans);
  memset(&found, 0, sizeof found);
}
