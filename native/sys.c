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

void sys_unmap(void *start, size_t bytes) {
  bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  lock_take(&own_lock);
  for (struct own_page *page = &own_first; page; page = page->next)
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start == (uintptr_t)start) page->ranges[i] = (struct own_range){0, 0};
  lock_drop(&own_lock);
  sys_call3(SYS_munmap, (long)start, (long)bytes, 0);
}

void sys_own_each(void (*visit)(uintptr_t, uintptr_t, void *), void *context) {
  for (struct own_page *page = &own_first; page; page = page->next)
    for (uint32_t i = 0; i < page->used; i++)
      if (page->ranges[i].start) visit(page->ranges[i].start, page->ranges[i].end, context);
}

struct lock *sys_lock(void) {
  return &own_lock;
}

size_t sys_address_space_share(void) {
  struct rlimit limit;
  if (sys_call4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit) < 0 || limit.rlim_cur == RLIM_INFINITY) return 1ul << 40;
  return limit.rlim_cur / 64;
}

// ---- process and time

int sys_pid(void) { return (int)sys_call0(SYS_getpid); }
int sys_tid(void) { return (int)sys_call0(SYS_gettid); }

// clock_gettime of the C library goes through the vDSO and cannot fail for these clocks.
static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
uint64_t sys_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
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
