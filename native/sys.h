// Raw system calls and heaptide's own memory. Nothing here sets errno, takes a program's lock or is a
// cancellation point, so all of it may run in a hook, a signal handler, a fork child or a parked world.
#ifndef HT_SYS_H
#define HT_SYS_H

#include <sys/syscall.h>

#include "words.h"

// Returns what the kernel returns: a negative errno on failure.
HT_INLINE long sys_call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
HT_INLINE long sys_call4(long number, long a, long b, long c, long d) { return sys_call6(number, a, b, c, d, 0, 0); }
HT_INLINE long sys_call3(long number, long a, long b, long c) { return sys_call6(number, a, b, c, 0, 0, 0); }
HT_INLINE long sys_call0(long number) { return sys_call6(number, 0, 0, 0, 0, 0, 0); }

// Own zeroed memory, kept out of core dumps and of the leak scan's roots; NULL when the kernel refuses.
// Grows lazily: only touched pages cost anything. `bytes` is rounded up to pages.
void *sys_map(size_t bytes);
void sys_unmap(void *start, size_t bytes);

// Calls `visit` for each range of own memory (as given by sys_map and sys_own_add).
void sys_own_each(void (*visit)(uintptr_t start, uintptr_t end, void *context), void *context);
struct lock;
struct lock *sys_lock(void);

// Bytes of address space that one table may reserve: a 64th of RLIMIT_AS, or plenty without a limit.
size_t sys_address_space_share(void);

int sys_pid(void); // the kernel's answer, never a remembered one
int sys_tid(void);
uint64_t sys_now_ns(void);      // CLOCK_MONOTONIC
uint64_t sys_unix_now_ns(void); // CLOCK_REALTIME

// Files, for the writer and for /proc. Descriptors are close-on-exec and are never kept open between calls.
int sys_open(const char *path, int flags, int mode); // a descriptor, or -errno; retries EINTR
long sys_read(int fd, void *buffer, size_t bytes);   // up to `bytes`, 0 at the end, -errno; retries EINTR
bool sys_read_all(const char *path, char *buffer, size_t capacity, size_t *bytes); // NUL-terminates; false: cannot read
void sys_close(int fd);

// True when the 8 bytes at `address` can be read. One system call, never a fault.
bool sys_readable(uintptr_t address);

#endif
