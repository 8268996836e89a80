// sources: native/guard.c native/resident.c native/spans.c native/maps.c native/sys.c native/sys_signal.c native/lock.c
// What the scan reads memory with: spans, the memory map, resident pages, reads that fault.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../native/guard.h"
#include "../../native/maps.h"
#include "../../native/resident.h"
#include "../../native/spans.h"
#include "expect.h"

#define PAGE 4096ul

// ---- spans, against a map of bytes

#define WORLD 3000

static void bytes_set(uintptr_t start, uintptr_t end, void *bytes) { memset((char *)bytes + start, 1, end - start); }

static void test_spans_gaps(void) {
  for (int round = 0; round < 200; round++) {
    struct spans spans = {0};
    char covered[WORLD] = {0}, gaps[WORLD] = {0};
    for (int i = 0; i < 40; i++) {
      uintptr_t start = (uintptr_t)random() % WORLD, end = start + (uintptr_t)random() % 60;
      if (end > WORLD) end = WORLD;
      spans_add(&spans, start, end);
      memset(covered + start, 1, end - start);
    }
    spans_sort(&spans);
    uintptr_t start = (uintptr_t)random() % WORLD, end = start + (uintptr_t)random() % (WORLD - start);
    spans_gaps(&spans, start, end, bytes_set, gaps);
    for (uintptr_t at = 0; at < WORLD; at++) EXPECT(gaps[at] == (at >= start && at < end && !covered[at]));
    spans_drop(&spans);
  }
}

static void test_spans_many(void) {
  struct spans spans = {0};
  for (uintptr_t i = 0; i < 100000; i++) spans_add(&spans, i * 7919 % 100003 * 2, i * 7919 % 100003 * 2 + 1);
  spans_sort(&spans);
  EXPECT(!spans.full && spans.count == 100000);
  for (uint32_t i = 1; i < spans.count; i++) EXPECT(spans.table[i - 1].end < spans.table[i].start);
  spans_drop(&spans);
}

// ---- the map

static int global;

static void test_maps(void) {
  struct maps maps;
  int local;
  EXPECT(maps_read(&maps));
  const struct mapping *data = maps_find(&maps, (uintptr_t)&global), *stack = maps_find(&maps, (uintptr_t)&local);
  const struct mapping *code = maps_find(&maps, (uintptr_t)test_maps);
  EXPECT(data && data->flags == (MAPS_READ | MAPS_WRITE));
  EXPECT(stack && strcmp(stack->path, "[stack]") == 0);
  EXPECT(code && code->flags == (MAPS_READ | MAPS_EXEC) && strstr(code->path, "scan_memory_test"));
  EXPECT(!maps_find(&maps, 16) && !maps_find(&maps, UINTPTR_MAX));
  for (uint32_t i = 1; i < maps.count; i++) EXPECT(maps.table[i - 1].end <= maps.table[i].start);
  maps_drop(&maps);
}

static void test_maps_of_many_lines(void) {
  char *memory = mmap(NULL, 20000 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 20000; i += 2) mprotect(memory + i * (long)PAGE, PAGE, PROT_NONE);
  struct maps maps;
  EXPECT(maps_read(&maps) && maps.count > 20000);
  const struct mapping *last = maps_find(&maps, (uintptr_t)memory + 19999 * PAGE);
  EXPECT(last && last->flags == MAPS_READ);
  maps_drop(&maps);
  munmap(memory, 20000 * PAGE);
}

// ---- resident pages

static void test_resident_pages(void) {
  size_t bytes = 64ul << 20;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  uintptr_t start = (uintptr_t)memory, end = start + bytes, run_end, at = start;
  memory[10 * PAGE] = memory[11 * PAGE] = memory[16000 * PAGE] = 1;
  resident_begin();
  EXPECT(resident_next(&at, &run_end, end, false) && at == start + 10 * PAGE && run_end == start + 12 * PAGE);
  at = run_end;
  EXPECT(resident_next(&at, &run_end, end, false) && at == start + 16000 * PAGE && run_end == at + PAGE);
  at = run_end;
  EXPECT(!resident_next(&at, &run_end, end, false));
  at = start + 10 * PAGE + 8;
  EXPECT(resident_next(&at, &run_end, at + 16, false) && at == start + 10 * PAGE + 8 && run_end == at + 16);
  resident_end();
  munmap(memory, bytes);
}

static void test_a_reservation_of_terabytes(bool whole_kernel) {
  size_t bytes = 16ul << 40;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(memory != MAP_FAILED);
  if (memory == MAP_FAILED) return;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  uintptr_t start = (uintptr_t)memory, end = start + bytes, run_end, at = start;
  enum { TOUCHED = 2000 }; // more than one look tells
  for (size_t i = 0; i < TOUCHED; i++) memory[i * (3ul << 30)] = 1;
  alarm(20);
  resident_begin();
  size_t found = 0;
  for (; resident_next(&at, &run_end, end, false); at = run_end, found++)
    EXPECT(at == start + found * (3ul << 30) && run_end == at + PAGE);
  EXPECT(found == (whole_kernel ? TOUCHED : 0));
  resident_end();
  alarm(0);
  munmap(memory, bytes);
}

static bool kernel_scans(void) {
  struct utsname name;
  int major = 0, minor = 0;
  return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 7));
}

// As on a kernel before 6.7.
static void ioctl_refuse(void) {
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 25), // ENOTTY
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void test_pages_of_a_file_are_told_apart(void) {
  char path[] = "/tmp/scan_memory_test.XXXXXX";
  int fd = mkstemp(path);
  EXPECT(fd >= 0 && ftruncate(fd, 8 * PAGE) == 0);
  volatile char *memory = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  for (int i = 0; i < 8; i++) (void)memory[i * PAGE];
  memory[3 * PAGE] = 1;
  uintptr_t at = (uintptr_t)memory, run_end;
  resident_begin();
  EXPECT(resident_next(&at, &run_end, at + 8 * PAGE, true) && at == (uintptr_t)memory + 3 * PAGE);
  EXPECT(run_end == at + PAGE);
  resident_end();
  munmap((void *)memory, 8 * PAGE);
  close(fd);
  unlink(path);
}

// ---- faults

static volatile uintptr_t read_word;

static void word_read(void *address) { read_word = *(volatile uintptr_t *)address; }

static void test_faults_end_the_read(void) {
  char path[] = "/tmp/scan_memory_test.XXXXXX";
  int fd = mkstemp(path);
  char *closed = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *cut = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0); // the file is empty: SIGBUS
  uintptr_t open = 77;
  sigset_t all, before, after;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before); // a blocked fault would kill
  guard_begin();
  for (int i = 0; i < 3; i++) {
    EXPECT(!guard_run(word_read, closed));
    EXPECT(!guard_run(word_read, cut));
    EXPECT(guard_run(word_read, &open) && read_word == 77);
  }
  guard_end();
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT(sigismember(&after, SIGSEGV) && sigismember(&after, SIGUSR1));
  struct sigaction action;
  sigaction(SIGSEGV, NULL, &action);
  EXPECT(action.sa_handler == SIG_DFL);
  close(fd);
  unlink(path);
}

int main(void) {
  srandom(3);
  test_spans_gaps();
  test_spans_many();
  test_maps();
  test_maps_of_many_lines();
  test_resident_pages();
  test_pages_of_a_file_are_told_apart();
  test_a_reservation_of_terabytes(kernel_scans());
  test_faults_end_the_read();
  ioctl_refuse();
  test_resident_pages();
  test_pages_of_a_file_are_told_apart();
  test_a_reservation_of_terabytes(false);
  return failures != 0;
}
