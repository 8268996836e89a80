#include "resident.h"

#include <fcntl.h>

#include "sys.h"

#define PAGE_SHIFT 12
#define PAGE_BYTES (1ul << PAGE_SHIFT)
#define ENTRIES 4096u // one read tells about 16 MiB

// Documentation/admin-guide/mm/pagemap.rst of Linux
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61)

static struct {
  int fd;
  uint64_t *entries;
  uintptr_t first; // page number of entries[0]
  size_t count;
} resident = {.fd = -1};

void resident_begin(void) {
  resident.count = 0;
  resident.entries = sys_map(ENTRIES * sizeof *resident.entries);
  resident.fd = resident.entries ? sys_open("/proc/self/pagemap", O_RDONLY, 0) : -1;
}

void resident_end(void) {
  if (resident.fd >= 0) sys_close(resident.fd);
  if (resident.entries) sys_unmap(resident.entries, ENTRIES * sizeof *resident.entries);
  resident.fd = -1;
  resident.entries = NULL;
}

static bool window_read(uintptr_t page) {
  long got = sys_call4(SYS_pread64, resident.fd, (long)resident.entries, ENTRIES * sizeof *resident.entries,
                       (long)(page * sizeof *resident.entries));
  if (got < (long)sizeof *resident.entries) return false;
  resident.first = page;
  resident.count = (size_t)got / sizeof *resident.entries;
  return true;
}

static bool page_holds_data(uintptr_t page, bool private_only) {
  if (page - resident.first >= resident.count && !window_read(page)) return true;
  uint64_t entry = resident.entries[page - resident.first];
  return entry & (PAGE_PRESENT | PAGE_SWAPPED) && !(private_only && entry & PAGE_OF_FILE);
}

bool resident_next(uintptr_t *start, uintptr_t *run_end, uintptr_t end, bool private_only) {
  if (*start >= end) return false;
  *run_end = end;
  if (resident.fd < 0) return true;
  uintptr_t page = *start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;
  while (page <= last && !page_holds_data(page, private_only)) page++;
  if (page > last) return false;
  if (page << PAGE_SHIFT > *start) *start = page << PAGE_SHIFT;
  while (page <= last && page_holds_data(page, private_only)) page++;
  if (page << PAGE_SHIFT < end) *run_end = page << PAGE_SHIFT;
  return true;
}
