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
// Notes memory that was mapped by sys_map before its list was made as new.
void sys_own_note(uintptr_t start, uintptr_t end);
// Of all own memory but what is `kept`: gives the pages back, so that it reads zeros; unmaps it, with the list itself,
// whose variables must then be made as new.
void sys_own_empty(bool (*kept)(uintptr_t start));
void sys_own_unmap(bool (*kept)(uintptr_t start));
struct lock;
struct lock *sys_lock(void);

// Bytes of address space that one table may reserve: a 64th of RLIMIT_AS and RLIMIT_DATA, or plenty without a limit.
size_t sys_address_space_share(void);
size_t sys_share_of(size_t limit_bytes);
// How many of `max` items fit into that share when `used` are there already and `least` more are wanted.
uint32_t sys_table_room(uint32_t max, size_t item_bytes, uint32_t used, uint32_t least, size_t share_bytes);
// Gives back what lies behind the first `kept_bytes` of a range that sys_map gave.
void sys_trim(void *start, size_t bytes, size_t kept_bytes);

int sys_pid(void); // the kernel's answer, never a remembered one
int sys_tid(void);
int sys_parent_pid(void);
// In a copy of the process (copy.h): from here on the three above answer as in the original.
void sys_copy_mark(int pid, int tid, int parent_pid);
bool sys_is_copy(void);
uint64_t sys_now_ns(void); // CLOCK_MONOTONIC
// The same as it stood at the kernel's last tick, 1 to 10 ms ago: a few loads, where reading the processor's counter
// takes three times as long.
uint64_t sys_tick_ns(void);
uint64_t sys_unix_now_ns(void); // CLOCK_REALTIME

// Files, for the writer and for /proc. Descriptors are close-on-exec and are never kept open between calls.
int sys_open(const char *path, int flags, int mode); // a descriptor, or -errno; retries EINTR
long sys_read(int fd, void *buffer, size_t bytes);   // up to `bytes`, 0 at the end, -errno; retries EINTR
bool sys_read_all(const char *path, char *buffer, size_t capacity, size_t *bytes); // NUL-terminates; false: cannot read
void sys_close(int fd);

// True when the 8 bytes at `address` can be read. One system call, never a fault.
bool sys_readable(uintptr_t address);

#endif
