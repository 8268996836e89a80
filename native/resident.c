#include "resident.h"

#include <fcntl.h>

#include "sys.h"

#define PAGE_SHIFT 12
#define PAGE_BYTES (1ul << PAGE_SHIFT)
#define BUFFER_BYTES (32u << 10)
#define ENTRIES (BUFFER_BYTES / sizeof(uint64_t)) // one read tells about 16 MiB
#define REGIONS (BUFFER_BYTES / sizeof(struct region))
#define LOOK_MAX_BYTES (256ul << 30) // page by page: about a quarter of a second

// Documentation/admin-guide/mm/pagemap.rst of Linux
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61)

// PAGEMAP_SCAN, Linux 6.7 (include/uapi/linux/fs.h): passes over what has no page table at all, so that terabytes
// take no time.
#define SCAN_REQUEST 0xc0606610ul // _IOWR('f', 16, struct page_scan)
#define SCAN_FILE (1u << 2)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN_ZERO (1u << 5) // the kernel's page of zeros, of what was only read

struct region { // struct page_region
  uint64_t start, end, categories;
};

struct page_scan { // struct pm_scan_arg
  uint64_t bytes, flags, start, end, walk_end, regions, region_capacity, pages_max;
  uint64_t inverted, all_of, any_of, told; // of SCAN_*: which pages are wanted, and what is said of them
};

static struct {
  int fd;
  void *buffer;
  bool scans; // the kernel has not refused PAGEMAP_SCAN
  // Page by page: the buffer holds entries.
  uintptr_t first; // page number of the first entry
  size_t count;
  // By PAGEMAP_SCAN: the buffer holds the regions with data in [from, until).
  uintptr_t from, until;
  size_t regions, next;
  bool private_only;
} resident = {.fd = -1};

void resident_begin(void) {
  resident.count = 0;
  resident.from = resident.until = 0;
  resident.scans = true;
  resident.buffer = sys_map(BUFFER_BYTES);
  resident.fd = resident.buffer ? sys_open("/proc/self/pagemap", O_RDONLY, 0) : -1;
}

void resident_end(void) {
  if (resident.fd >= 0) sys_close(resident.fd);
  if (resident.buffer) sys_unmap(resident.buffer, BUFFER_BYTES);
  resident.fd = -1;
  resident.buffer = NULL;
}

// ---- by PAGEMAP_SCAN

static bool regions_read(uintptr_t start, uintptr_t end, bool private_only) {
  struct page_scan scan = {.bytes = sizeof scan,
                           .start = start & ~(PAGE_BYTES - 1),
                           .end = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
                           .regions = (uintptr_t)resident.buffer,
                           .region_capacity = REGIONS,
                           .inverted = private_only ? SCAN_FILE | SCAN_ZERO : 0,
                           .all_of = private_only ? SCAN_FILE | SCAN_ZERO : 0,
                           .any_of = SCAN_PRESENT | SCAN_SWAPPED,
                           .told = SCAN_FILE};
  long count = sys_call3(SYS_ioctl, resident.fd, (long)SCAN_REQUEST, (long)&scan);
  if (count < 0 || scan.walk_end <= start) return false;
  resident.regions = (size_t)count;
  resident.next = 0;
  resident.from = scan.start;
  resident.until = scan.walk_end;
  resident.private_only = private_only;
  return true;
}

// The first region that ends behind `address`; callers mostly go upwards.
static const struct region *region_after(uintptr_t address) {
  const struct region *regions = resident.buffer;
  if (resident.next && regions[resident.next - 1].end > address) resident.next = 0;
  while (resident.next < resident.regions && regions[resident.next].end <= address) resident.next++;
  return resident.next < resident.regions ? &regions[resident.next] : NULL;
}

static bool next_by_scan(uintptr_t *start, uintptr_t *run_end, uintptr_t end, bool private_only) {
  for (; *start < end; *start = resident.until) {
    bool inside = *start >= resident.from && *start < resident.until && private_only == resident.private_only;
    if (!inside && !regions_read(*start, end, private_only)) return resident.scans = false;
    const struct region *region = region_after(*start);
    if (!region) continue;
    if (region->start >= end) return false;
    if (region->start > *start) *start = region->start;
    *run_end = region->end < end ? region->end : end;
    return true;
  }
  return false;
}

// ---- page by page

static bool window_read(uintptr_t page) {
  long got = sys_call4(SYS_pread64, resident.fd, (long)resident.buffer, BUFFER_BYTES, (long)(page * sizeof(uint64_t)));
  if (got < (long)sizeof(uint64_t)) return false;
  resident.first = page;
  resident.count = (size_t)got / sizeof(uint64_t);
  return true;
}

static bool page_holds_data(uintptr_t page, bool private_only) {
  if (page - resident.first >= resident.count && !window_read(page)) return true;
  uint64_t entry = ((const uint64_t *)resident.buffer)[page - resident.first];
  return entry & (PAGE_PRESENT | PAGE_SWAPPED) && !(private_only && entry & PAGE_OF_FILE);
}

static bool next_by_page(uintptr_t *start, uintptr_t *run_end, uintptr_t end, bool private_only) {
  uintptr_t page = *start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;
  while (page <= last && !page_holds_data(page, private_only)) page++;
  if (page > last) return false;
  if (page << PAGE_SHIFT > *start) *start = page << PAGE_SHIFT;
  while (page <= last && page_holds_data(page, private_only)) page++;
  if (page << PAGE_SHIFT < end) *run_end = page << PAGE_SHIFT;
  return true;
}

bool resident_next(uintptr_t *start, uintptr_t *run_end, uintptr_t end, bool private_only) {
  if (*start >= end) return false;
  *run_end = end;
  uintptr_t asked = *start;
  if (resident.fd >= 0 && resident.scans) {
    if (next_by_scan(start, run_end, end, private_only)) return true;
    if (resident.scans) return false;
    *start = asked;
    resident.count = 0; // the buffer holds regions
  }
  if (end - *start > LOOK_MAX_BYTES) return false;
  return resident.fd < 0 || next_by_page(start, run_end, end, private_only);
}
