#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "lock.h"

#define PAGE_BYTES 4096ul

// ---- own memory: every range is noted, since the leak scan must not take it for roots

struct own_range {
  uintptr_t start, end;
};

// One page of ranges; the chain only grows, freed ranges are used again.
struct own_page {
  struct own_page *next;
  uint32_t used;
  struct own_range ranges[(PAGE_BYTES - 16) / sizeof(struct own_range)];
};
#define RANGES_A_PAGE (sizeof(((struct own_page *)0)->ranges) / sizeof(struct own_range))

static struct own_page own_first;
static struct lock own_lock = LOCK_INIT(LOCK_RANK_SYS); // guards the chain above

static void *map_raw(size_t bytes) {
  long result =
      sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return result < 0 && result > -4096 ? NULL : (void *)result;
}

static struct own_range *own_slot_locked(void) {
  struct own_page *page = &own_first;
  for (;;) {
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start == 0) return &page->ranges[i];
    if (page->used < RANGES_A_PAGE) return &page->ranges[page->used++];
    if (!page->next) {
      page->next = map_raw(sizeof *page);
      if (!page->next) return NULL;
      page->next->ranges[0] = (struct own_range){(uintptr_t)page->next, (uintptr_t)page->next + sizeof *page};
      page->next->used = 1;
    }
    page = page->next;
  }
}

void *sys_map(size_t bytes) {
  bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  char *start = map_raw(bytes);
  if (!start) return NULL;
  sys_call3(SYS_madvise, (long)start, (long)bytes, MADV_DONTDUMP);
  sys_call3(SYS_madvise, (long)start, (long)bytes, MADV_NOHUGEPAGE); // tables are touched here and there only
  lock_take(&own_lock);
  struct own_range *slot = own_slot_locked();
  if (slot) *slot = (struct own_range){(uintptr_t)start, (uintptr_t)start + bytes};
  lock_drop(&own_lock);
  return start;
}

void sys_own_note(uintptr_t start, uintptr_t end) {
  lock_take(&own_lock);
  struct own_range *slot = own_slot_locked();
  if (slot) *slot = (struct own_range){start, end};
  lock_drop(&own_lock);
}

void sys_unmap(void *start, size_t bytes) {
  bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  lock_take(&own_lock);
  for (struct own_page *page = &own_first; page; page = page->next)
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start == (uintptr_t)start) page->ranges[i] = (struct own_range){0, 0};
  lock_drop(&own_lock);
  sys_call3(SYS_munmap, (long)start, (long)bytes, 0);
}

void sys_trim(void *start, size_t bytes, size_t kept_bytes) {
  uintptr_t end = ((uintptr_t)start + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  uintptr_t kept_end = ((uintptr_t)start + kept_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  if (kept_end >= end) return;
  lock_take(&own_lock);
  for (struct own_page *page = &own_first; page; page = page->next)
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start == (uintptr_t)start) page->ranges[i].end = kept_end;
  lock_drop(&own_lock);
  sys_call3(SYS_munmap, (long)kept_end, (long)(end - kept_end), 0);
}

void sys_own_each(void (*visit)(uintptr_t, uintptr_t, void *), void *context) {
  for (struct own_page *page = &own_first; page; page = page->next)
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start) visit(page->ranges[i].start, page->ranges[i].end, context);
}

// The ranges that one page of the list holds: not the page itself, which stands in itself, nor what is kept.
static void page_ranges_each(const struct own_page *page, bool (*kept)(uintptr_t),
                             void (*visit)(uintptr_t start, size_t bytes)) {
  for (uint32_t i = page != &own_first; i < page->used; i++) {
    const struct own_range *range = &page->ranges[i];
    if (range->start && !kept(range->start)) visit(range->start, range->end - range->start);
  }
}

static void range_empty(uintptr_t start, size_t bytes) {
  sys_call3(SYS_madvise, (long)start, (long)bytes, MADV_DONTNEED);
}

static void range_unmap(uintptr_t start, size_t bytes) { sys_call3(SYS_munmap, (long)start, (long)bytes, 0); }

void sys_own_empty(bool (*kept)(uintptr_t start)) {
  for (struct own_page *page = &own_first; page; page = page->next) page_ranges_each(page, kept, range_empty);
}

void sys_own_unmap(bool (*kept)(uintptr_t start)) {
  for (struct own_page *page = &own_first, *next; page; page = next) {
    page_ranges_each(page, kept, range_unmap);
    next = page->next;
    if (page != &own_first) range_unmap((uintptr_t)page, sizeof *page);
  }
}

struct lock *sys_lock(void) {
  return &own_lock;
}

#define SHARE_UNLIMITED (1ul << 40)

size_t sys_share_of(size_t limit_bytes) {
  return limit_bytes / 64 < SHARE_UNLIMITED ? limit_bytes / 64 : SHARE_UNLIMITED;
}

static size_t limit_of(int resource) {
  struct rlimit limit;
  return sys_call4(SYS_prlimit64, 0, resource, 0, (long)&limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

size_t sys_address_space_share(void) {
  size_t space = sys_share_of(limit_of(RLIMIT_AS)), data = sys_share_of(limit_of(RLIMIT_DATA));
  return space < data ? space : data;
}

uint32_t sys_table_room(uint32_t max, size_t item_bytes, uint32_t used, uint32_t least, size_t share_bytes) {
  while (max / 2 >= used && max / 2 - used >= least && max * item_bytes > share_bytes) max /= 2;
  return max;
}

// ---- process and time

static struct {
  int pid, tid, parent_pid; // 0: this is no copy
} original;

int sys_pid(void) { return original.pid ? original.pid : (int)sys_call0(SYS_getpid); }
int sys_tid(void) { return original.pid ? original.tid : (int)sys_call0(SYS_gettid); }
int sys_parent_pid(void) { return original.pid ? original.parent_pid : (int)sys_call0(SYS_getppid); }
bool sys_is_copy(void) { return original.pid != 0; }

void sys_copy_mark(int pid, int tid, int parent_pid) {
  original.tid = tid;
  original.parent_pid = parent_pid;
  original.pid = pid;
}

// clock_gettime of the C library goes through the vDSO and cannot fail for these clocks.
static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
uint64_t sys_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t sys_tick_ns(void) { return clock_ns(CLOCK_MONOTONIC_COARSE); }
uint64_t sys_unix_now_ns(void) { return clock_ns(CLOCK_REALTIME); }

// ---- files

int sys_open(const char *path, int flags, int mode) {
  long fd;
  do fd = sys_call4(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode);
  while (fd == -EINTR);
  return (int)fd;
}

long sys_read(int fd, void *buffer, size_t bytes) {
  long got;
  do got = sys_call3(SYS_read, fd, (long)buffer, (long)bytes);
  while (got == -EINTR);
  return got;
}

void sys_close(int fd) { sys_call3(SYS_close, fd, 0, 0); }

bool sys_read_all(const char *path, char *buffer, size_t capacity, size_t *bytes) {
  int fd = sys_open(path, O_RDONLY, 0);
  if (fd < 0) return false;
  size_t used = 0;
  long got = 0;
  while (used + 1 < capacity && (got = sys_read(fd, buffer + used, capacity - 1 - used)) > 0) used += (size_t)got;
  sys_close(fd);
  buffer[used] = 0;
  *bytes = used;
  return got >= 0;
}

// The kernel copies the new signal mask before it looks at `how`: EFAULT means unreadable, EINVAL readable.
bool sys_readable(uintptr_t address) {
  return sys_call4(SYS_rt_sigprocmask, -1, (long)(address & ~7ul), 0, 8) != -EFAULT;
}
