#include "inject.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "elf_symbols.h"
#include "memory.h"
#include "process_life.h"
#include "process_maps.h"

#define MEMORY_BYTES (1024u * 1024) // for the strings, from below, and the call's stack, from above
#define TRAP_BYTES 4096u            // behind it, closed: where calls return to
#define CALL_LIMIT_MS 90000
#define FIND_LIMIT_MS 15000 // until a thread was seen at a good place
#define STOP_LIMIT_MS 1000  // for one thread to stop
#define EXEC_LIMIT_MS 300   // until the loader of a program is mapped
#define AGAIN_NS 3000000    // between two looks
#define STACK_LOOK_BYTES 8192u
#define STACK_LOOK_BYTES_LATER 1536u // when no thread suits: what is left on a stack may look like a call
#define SYSCALL_BYTES 2u
#define EVENT_OF(status) ((status) >> 16)
#define SYSCALL_STOP (SIGTRAP | 0x80) // PTRACE_O_TRACESYSGOOD

// Around the exported functions of glibc's malloc.c lie its own, which hold locks: some 12 KiB before and behind.
#define MALLOC_MARGIN_BYTES 16384u

// Of pthread_create, which holds a lock around its list of stacks. (What every thread begins in lies elsewhere.)
#define CREATE_BYTES 2048u

// More than any processor has: AVX-512 comes to 2.7 KiB, AMX's tiles add 8 (Intel's manual, volume 1, 13.4).
#define VECTORS_BYTES 16384

#define UNSAFE_MAX 16

struct span {
  uint64_t start, end;
};

struct inject {
  pid_t pid, tid;
  struct process_module libc;
  struct span unsafe[UNSAFE_MAX]; // code that a thread must not be in: the loader, allocators, the making of threads
  unsigned unsafe_count;
  struct span own; // heaptide's, where it was attached before
  uint64_t gadget; // a `syscall` instruction
  struct user_regs_struct saved;
  uint8_t vectors[VECTORS_BYTES]; // floating point and vector registers: a function may leave anything in them
  struct iovec vectors_saved;
  uint64_t mask;
  uint64_t memory, used; // there
  bool traps;            // calls return into the trap, else to the gadget
  uint64_t errno_at;     // the thread's errno, 0: not known
  int errno_saved;
  bool stopped, broken;
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void pause_shortly(long ns) { nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

static bool memory_read(pid_t pid, uint64_t address, void *into, size_t bytes) {
  struct iovec here = {into, bytes}, there = {(void *)(uintptr_t)address, bytes};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool memory_write(pid_t pid, uint64_t address, const void *from, size_t bytes) {
  struct iovec here = {(void *)from, bytes}, there = {(void *)(uintptr_t)address, bytes};
  return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

// ---- waiting for the stopped thread

// The status of its next stop; -1: it has ended, or did not stop in time.
static int stop_wait(const struct inject *inject, int64_t limit_ms) {
  int64_t until_ms = now_ms() + limit_ms;
  for (;;) {
    int status;
    pid_t got = waitpid(inject->tid, &status, __WALL | WNOHANG);
    if (got == inject->tid) return WIFSTOPPED(status) ? status : -1;
    if (got < 0 || now_ms() >= until_ms) return -1;
    pause_shortly(50000);
  }
}

static bool is_trap(int status) { return EVENT_OF(status) == PTRACE_EVENT_STOP; }

// Goes on until the trap that PTRACE_INTERRUPT asked for, in which the kernel decides anew how to return to the
// program: a system call that was interrupted begins again from there. A signal that comes first is handed on.
static bool trap_reach(const struct inject *inject) {
  int status = stop_wait(inject, STOP_LIMIT_MS);
  while (status >= 0 && !is_trap(status)) {
    int signal = WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
    if (ptrace(PTRACE_CONT, inject->tid, NULL, (void *)(intptr_t)signal) != 0) return false;
    status = stop_wait(inject, STOP_LIMIT_MS);
  }
  return status >= 0;
}

// ---- a thread at a good place

static bool span_holds(const struct span *span, uint64_t address) {
  return address >= span->start && address < span->end;
}

static bool in_unsafe(const struct inject *inject, uint64_t address) {
  for (unsigned i = 0; i < inject->unsafe_count; i++)
    if (span_holds(&inject->unsafe[i], address)) return true;
  return false;
}

// A word is a return address when a call instruction ends in front of it: e8 rel32, or ff /2 of two to seven bytes.
static bool is_return_address(const struct inject *inject, uint64_t address) {
  uint8_t before[7];
  if (!memory_read(inject->pid, address - sizeof before, before, sizeof before)) return false;
  if (before[2] == 0xe8) return true;
  for (unsigned at = 0; at + 1 < sizeof before; at++)
    if (before[at] == 0xff && (before[at + 1] >> 3 & 7) == 2) return true;
  return false;
}

static bool stack_is_safe(const struct inject *inject, uint64_t stack_pointer, size_t bytes) {
  uint64_t words[STACK_LOOK_BYTES / 8];
  size_t read = bytes;
  while (read && !memory_read(inject->pid, stack_pointer, words, read)) read /= 2; // the stack may be shorter
  for (size_t i = 0; i < read / 8; i++)
    if (in_unsafe(inject, words[i]) && is_return_address(inject, words[i])) return false;
  return true;
}

// In a system call that was interrupted while it slept: ERESTARTSYS to ERESTART_RESTARTBLOCK of Linux's
// include/linux/errno.h, or EINTR. The allocator and the loader sleep in futex alone, so who sleeps elsewhere is in
// neither, whatever old words say on its stack; at most a constructor of a library sleeps, which may call dlopen.
static bool is_asleep_elsewhere(const struct user_regs_struct *registers) {
  int64_t call = (int64_t)registers->orig_rax, result = (int64_t)registers->rax;
  return call >= 0 && call != SYS_futex && (result == -EINTR || (result <= -512 && result >= -516));
}

static bool thread_is_safe(const struct inject *inject, size_t look_bytes) {
  const uint64_t code_64_bit = 0x33; // the kernel's __USER_CS
  return inject->saved.cs == code_64_bit && !in_unsafe(inject, inject->saved.rip) &&
         !span_holds(&inject->own, inject->saved.rip) &&
         (is_asleep_elsewhere(&inject->saved) || stack_is_safe(inject, inject->saved.rsp, look_bytes));
}

// Calls that return EINTR after any stop, instead of beginning anew by themselves (signal(7)).
static bool call_resumes(uint64_t call) {
  static const short calls[] = {SYS_epoll_wait,   SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop,
                                SYS_semtimedop,   SYS_msgrcv,      SYS_msgsnd,       SYS_rt_sigtimedwait,
                                SYS_io_getevents, SYS_futex,       SYS_read,         SYS_recvfrom,
                                SYS_recvmsg,      SYS_recvmmsg,    SYS_accept,       SYS_accept4};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if ((uint64_t)calls[i] == call) return true;
  return false;
}

static void call_begin_anew(struct user_regs_struct *registers) {
  registers->rax = registers->orig_rax;
  registers->rip -= SYSCALL_BYTES;
  registers->orig_rax = ~0ull;
}

static void registers_put_back(struct inject *inject) {
  struct user_regs_struct *registers = &inject->saved;
  if (registers->rax == (uint64_t)-EINTR && call_resumes(registers->orig_rax)) call_begin_anew(registers);
  ptrace(PTRACE_SETREGS, inject->tid, NULL, registers);
  ptrace(PTRACE_SETREGSET, inject->tid, (void *)NT_X86_XSTATE, &inject->vectors_saved);
}

static bool registers_save(struct inject *inject) {
  inject->vectors_saved = (struct iovec){inject->vectors, sizeof inject->vectors};
  return ptrace(PTRACE_GETREGS, inject->tid, NULL, &inject->saved) == 0 &&
         ptrace(PTRACE_GETREGSET, inject->tid, (void *)NT_X86_XSTATE, &inject->vectors_saved) == 0;
}

static void thread_release(const struct inject *inject) { ptrace(PTRACE_DETACH, inject->tid, NULL, NULL); }

// 0: stopped at a good place; else an errno.
static int thread_try(struct inject *inject, pid_t tid, size_t look_bytes) {
  inject->tid = tid;
  if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0) return errno;
  bool trapped = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 && trap_reach(inject) && registers_save(inject);
  if (trapped && thread_is_safe(inject, look_bytes)) return 0;
  if (trapped) registers_put_back(inject);
  thread_release(inject);
  return EAGAIN;
}

static int threads_try(struct inject *inject, size_t look_bytes) {
  char path[64];
  int error = ESRCH;
  snprintf(path, sizeof path, "/proc/%d/task", (int)inject->pid);
  DIR *tasks = opendir(path);
  for (struct dirent *entry; tasks && error && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.') {
      int tried = thread_try(inject, (pid_t)atoi(entry->d_name), look_bytes);
      if (tried != ESRCH || error == ESRCH) error = tried;
      if (tried == EPERM) break;
    }
  if (tasks) closedir(tasks);
  return error;
}

static bool refused(struct problem *problem, pid_t pid, int error) {
  int scope = 0;
  FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (file && fscanf(file, "%d", &scope) != 1) scope = 0;
  if (file) fclose(file);
  if (error == ESRCH) return problem_set(problem, "look for it with ps", "no such process");
  if (error == EPERM && scope > 0 && geteuid() != 0)
    return problem_set(problem, "use sudo, or: sudo sysctl kernel.yama.ptrace_scope=0",
                       "ptrace_scope is %d, which lets only root attach", scope);
  if (error == EPERM)
    return problem_set(problem, "use sudo; in a container add the capability SYS_PTRACE",
                       "it may not be attached to (another user's, or already under a debugger)");
  (void)pid;
  return problem_set(problem, "try again", "none of its threads was seen outside the allocator and the loader");
}

static bool thread_find(struct inject *inject, struct problem *problem) {
  int64_t until_ms = now_ms() + FIND_LIMIT_MS;
  int error;
  do {
    size_t look = now_ms() + FIND_LIMIT_MS / 2 < until_ms ? STACK_LOOK_BYTES : STACK_LOOK_BYTES_LATER;
    error = threads_try(inject, look);
    if (error == 0) return true;
    if (error != EAGAIN) break;
    pause_shortly(AGAIN_NS);
  } while (now_ms() < until_ms);
  return refused(problem, inject->pid, error);
}

// ---- code of the process

static uint64_t symbol(const struct inject *inject, const char *name) {
  uint64_t value = elf_symbol_value(inject->libc.file, name);
  return value ? inject->libc.base + value : 0;
}

bool inject_library_find(pid_t pid, struct process_module *module) {
  return process_module_find(pid, "/" LIBRARY_NAME, module) || process_module_find(pid, MEMFD_NAME, module);
}

uint64_t inject_library_symbol(pid_t pid, const char *library, const char *name) {
  struct process_module module;
  if (!inject_library_find(pid, &module)) return 0;
  uint64_t value = elf_symbol_value(strstr(module.path, MEMFD_NAME) ? library : module.file, name);
  return value ? module.base + value : 0;
}

static void unsafe_add(struct inject *inject, uint64_t start, uint64_t end) {
  if (start && inject->unsafe_count < UNSAFE_MAX) inject->unsafe[inject->unsafe_count++] = (struct span){start, end};
}

// Around an allocator's functions in a file that holds more than that.
static void allocator_add(struct inject *inject, const struct process_module *module) {
  static const char *const names[] = {
      "malloc",  "free",        "calloc",        "realloc",     "memalign",          "valloc",
      "pvalloc", "malloc_trim", "aligned_alloc", "malloc_info", "malloc_usable_size"};
  struct span span = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint64_t value = elf_symbol_value(module->file, names[i]), at = module->base + value;
    if (!value) continue;
    if (!span.start || at < span.start) span.start = at;
    if (at > span.end) span.end = at;
  }
  if (span.start) unsafe_add(inject, span.start - MALLOC_MARGIN_BYTES, span.end + MALLOC_MARGIN_BYTES);
}

static bool is_program(pid_t pid, const char *path) {
  char program[PATH_MAX];
  return process_program_path(pid, program) && strcmp(program, path) == 0;
}

// Another allocator than glibc's (jemalloc, mimalloc, tcmalloc): the library that dlopen asks for memory too.
static void own_allocator_add(const struct process_module *module, void *context) {
  struct inject *inject = context;
  if (strcmp(module->path, inject->libc.path) == 0 || strstr(module->path, "/ld-linux") ||
      strstr(module->path, "/" LIBRARY_NAME) || !elf_symbol_defined(module->file, SYMBOLS_DYNAMIC, "malloc"))
    return;
  if (is_program(inject->pid, module->path))
    allocator_add(inject, module);
  else
    unsafe_add(inject, module->code, module->end);
}

static void unsafe_find(struct inject *inject) {
  struct process_module loader, own;
  if (process_module_find(inject->pid, "/ld-linux", &loader)) unsafe_add(inject, loader.code, loader.end);
  allocator_add(inject, &inject->libc);
  uint64_t create = symbol(inject, "pthread_create");
  unsafe_add(inject, create, create + CREATE_BYTES);
  process_modules_each(inject->pid, own_allocator_add, inject);
  if (inject_library_find(inject->pid, &own)) inject->own = (struct span){own.code, own.end};
}

static int loading_limit_ms(pid_t pid) {
  struct process_module loader;
  return process_module_find(pid, "/ld-linux", &loader) ? FIND_LIMIT_MS : EXEC_LIMIT_MS;
}

// A process that has just begun, or is in the middle of an exec, gets its C library mapped in a moment.
static bool libc_find(struct inject *inject) {
  int64_t begun_ms = now_ms();
  do {
    if (process_module_find(inject->pid, "/libc.so.6", &inject->libc)) return true;
    if (errno) return false;
    pause_shortly(AGAIN_NS);
  } while (now_ms() < begun_ms + loading_limit_ms(inject->pid));
  errno = 0;
  return false;
}

static bool process_look(struct inject *inject, struct problem *problem) {
  if (kill(inject->pid, 0) != 0) return refused(problem, inject->pid, errno);
  bool found = libc_find(inject);
  if (!found && errno) return refused(problem, inject->pid, EPERM);
  if (!found)
    return problem_set(problem, "start it under heaptide run, if it can be",
                       "it has no glibc of 2.34 or later mapped (static, another C library, or a 32-bit program)");
  uint64_t gadget = elf_syscall_find(inject->libc.file);
  inject->gadget = inject->libc.base + gadget;
  unsafe_find(inject);
  return (gadget && symbol(inject, "dlopen")) ||
         problem_set(problem, "start it under heaptide run", "its C library is older than glibc 2.34");
}

// ---- calls

static bool gone(struct inject *inject, struct problem *problem, int status) {
  inject->broken = true;
  if (status >= 0)
    return problem_set(problem, "report this", "the call in it was ended by signal %d", WSTOPSIG(status));
  return problem_set(problem, "see whether it still runs", "it ended, or did not answer in time");
}

// Runs from `registers` until the call returns into the trap, which nobody may execute. The fault is the tracer's
// alone: no signal is delivered. (Every system call of the call's own would be a stop otherwise, and a busy process of
// 200 threads lets a thread that was stopped wait for its turn each time.)
static bool run_to_trap(struct inject *inject, struct user_regs_struct *registers, struct problem *problem) {
  if (ptrace(PTRACE_SETREGS, inject->tid, NULL, registers) != 0) return gone(inject, problem, -1);
  for (;;) {
    if (ptrace(PTRACE_CONT, inject->tid, NULL, NULL) != 0) return gone(inject, problem, -1);
    int status = stop_wait(inject, CALL_LIMIT_MS);
    if (status >= 0 && is_trap(status)) continue;
    bool faulted = status >= 0 && WSTOPSIG(status) == SIGSEGV;
    if (!faulted || ptrace(PTRACE_GETREGS, inject->tid, NULL, registers) != 0) return gone(inject, problem, status);
    return registers->rip == inject->memory + MEMORY_BYTES || gone(inject, problem, status);
  }
}

// Runs from `registers` until the thread is about to make a system call at the gadget with `stack_pointer`.
static bool run_to_gadget(struct inject *inject, struct user_regs_struct *registers, uint64_t stack_pointer,
                          struct problem *problem) {
  if (ptrace(PTRACE_SETREGS, inject->tid, NULL, registers) != 0) return gone(inject, problem, -1);
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, inject->tid, NULL, NULL) != 0) return gone(inject, problem, -1);
    int status = stop_wait(inject, CALL_LIMIT_MS);
    if (status < 0 || (!is_trap(status) && WSTOPSIG(status) != SYSCALL_STOP)) return gone(inject, problem, status);
    if (is_trap(status)) continue;
    if (ptrace(PTRACE_GETREGS, inject->tid, NULL, registers) != 0) return gone(inject, problem, -1);
    if (registers->rip == inject->gadget + SYSCALL_BYTES && (!stack_pointer || registers->rsp == stack_pointer))
      return true;
  }
}

static struct user_regs_struct registers_new(const struct inject *inject, uint64_t rip, const uint64_t arguments[3]) {
  const unsigned long long direction_flag = 0x400, trap_flag = 0x100;
  struct user_regs_struct registers = inject->saved;
  registers.orig_rax = ~0ull; // in no system call
  registers.eflags &= ~(direction_flag | trap_flag);
  registers.rip = rip;
  registers.rax = 0;
  registers.rdi = arguments[0];
  registers.rsi = arguments[1];
  registers.rdx = arguments[2];
  return registers;
}

bool inject_call(struct inject *inject, uint64_t address, const uint64_t arguments[3], uint64_t *result,
                 struct problem *problem) {
  struct user_regs_struct registers = registers_new(inject, address, arguments);
  uint64_t top = inject->memory + MEMORY_BYTES - 64;
  uint64_t return_to = inject->traps ? inject->memory + MEMORY_BYTES : inject->gadget;
  registers.rsp = top - 8; // 16-byte aligned before the call pushed its return address
  if (!memory_write(inject->pid, registers.rsp, &return_to, sizeof return_to)) return gone(inject, problem, -1);
  if (inject->traps) {
    if (!run_to_trap(inject, &registers, problem)) return false;
    *result = registers.rax;
    return true;
  }
  if (!run_to_gadget(inject, &registers, top, problem)) return false;
  *result = registers.orig_rax; // what the function returned stands where a system call's number would
  registers.orig_rax = ~0ull;
  return ptrace(PTRACE_SETREGS, inject->tid, NULL, &registers) == 0 || gone(inject, problem, -1);
}

// One system call at the gadget itself: stops before it, and behind it with the result.
static bool system_call(struct inject *inject, uint64_t number, const uint64_t arguments[6], uint64_t *result,
                        struct problem *problem) {
  struct user_regs_struct registers = registers_new(inject, inject->gadget, arguments);
  registers.rax = number;
  registers.r10 = arguments[3];
  registers.r8 = arguments[4];
  registers.r9 = arguments[5];
  if (!run_to_gadget(inject, &registers, 0, problem)) return false;
  if (ptrace(PTRACE_SYSCALL, inject->tid, NULL, NULL) != 0) return gone(inject, problem, -1);
  int status = stop_wait(inject, STOP_LIMIT_MS);
  if (status < 0 || ptrace(PTRACE_GETREGS, inject->tid, NULL, &registers) != 0) return gone(inject, problem, status);
  *result = registers.rax;
  return true;
}

// A fault that the process ignores would have the kernel forget that it does (force_sig_info_to_task in Linux's
// kernel/signal.c).
static bool ignores_faults(pid_t pid) {
  char path[64], line[256];
  unsigned long long ignored = ~0ull;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "SigIgn: %llx", &ignored) == 1) break;
  if (file) fclose(file);
  return ignored >> (SIGSEGV - 1) & 1;
}

static bool memory_map(struct inject *inject, struct problem *problem) {
  const uint64_t map[6] = {0, MEMORY_BYTES + TRAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0};
  uint64_t mapped, refused;
  if (!system_call(inject, SYS_mmap, map, &mapped, problem)) return false;
  bool full = mapped >= -4096ull;
  if (!full) {
    inject->memory = mapped;
    const uint64_t open[6] = {mapped, MEMORY_BYTES, PROT_READ | PROT_WRITE};
    if (!system_call(inject, SYS_mprotect, open, &refused, problem)) return false;
    full = refused != 0;
  }
  inject->traps = !ignores_faults(inject->pid);
  return !full || problem_set(problem, "see its memory limits", "it has no memory left");
}

static void memory_unmap(struct inject *inject) {
  uint64_t result;
  struct problem problem;
  const uint64_t arguments[6] = {inject->memory, MEMORY_BYTES + TRAP_BYTES};
  if (inject->memory && !inject->broken) system_call(inject, SYS_munmap, arguments, &result, &problem);
}

// What is called may set the thread's errno, which the program may be about to look at.
static bool errno_save(struct inject *inject, struct problem *problem) {
  const uint64_t none[3] = {0};
  uint64_t at;
  if (!inject_call(inject, symbol(inject, "__errno_location"), none, &at, problem)) return false;
  inject->errno_at = at;
  return memory_read(inject->pid, at, &inject->errno_saved, sizeof inject->errno_saved) || gone(inject, problem, -1);
}

// Signals of faults stay: blocked, they would kill.
static bool signals_block(struct inject *inject) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  uint64_t all = ~0ull;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) all &= ~(1ull << (faults[i] - 1));
  return ptrace(PTRACE_GETSIGMASK, inject->tid, (void *)sizeof inject->mask, &inject->mask) == 0 &&
         ptrace(PTRACE_SETSIGMASK, inject->tid, (void *)sizeof all, &all) == 0;
}

// ---- the whole

static bool begin(struct inject *inject, struct problem *problem) {
  if (!process_look(inject, problem)) return false;
  if (process_stop_of((uint32_t)inject->pid) == PROCESS_STOPPED)
    return problem_set(problem, "let it go on first (fg, or kill -CONT)",
                       "it is stopped, by job control or a debugger");
  if (!thread_find(inject, problem)) return false;
  inject->stopped = true;
  if (!signals_block(inject)) return problem_set(problem, "use a newer kernel", "its signals cannot be held");
  return memory_map(inject, problem) && errno_save(inject, problem);
}

struct inject *inject_begin(pid_t pid, struct problem *problem) {
  struct inject *inject = memory_get(1, sizeof *inject);
  inject->pid = pid;
  if (begin(inject, problem)) return inject;
  inject_end(inject);
  return NULL;
}

// What the kernel kept about an interrupted poll or sleep is gone when the thread took a signal in between, and the
// call would return EINTR: it begins anew, with its whole timeout. The number is from Linux's include/linux/errno.h.
#define ERESTART_RESTARTBLOCK 516
static void timed_call_put_back(struct user_regs_struct *registers) {
  if (registers->rax == (uint64_t)-ERESTART_RESTARTBLOCK) call_begin_anew(registers);
}

// The registers are put back in a trap, so that the kernel sees the interrupted system call when it returns from there.
static void thread_put_back(struct inject *inject) {
  ptrace(PTRACE_INTERRUPT, inject->tid, NULL, NULL);
  if (ptrace(PTRACE_CONT, inject->tid, NULL, NULL) != 0 || !trap_reach(inject)) return;
  timed_call_put_back(&inject->saved);
  registers_put_back(inject);
  ptrace(PTRACE_SETSIGMASK, inject->tid, (void *)sizeof inject->mask, &inject->mask);
  thread_release(inject);
}

void inject_end(struct inject *inject) {
  if (inject->errno_at) memory_write(inject->pid, inject->errno_at, &inject->errno_saved, sizeof inject->errno_saved);
  memory_unmap(inject);
  if (inject->stopped) thread_put_back(inject);
  free(inject);
}

uint64_t inject_put(struct inject *inject, const void *data, size_t bytes) {
  uint64_t address = inject->memory + inject->used;
  if (bytes > MEMORY_BYTES / 2 - inject->used || !memory_write(inject->pid, address, data, bytes)) return 0;
  inject->used += (bytes + 15) & ~15ull;
  return address;
}

bool inject_read(pid_t pid, uint64_t address, void *into, size_t bytes) {
  return memory_read(pid, address, into, bytes);
}

void inject_string(struct inject *inject, uint64_t address, char *text, size_t capacity) {
  size_t used = 0;
  while (used + 1 < capacity && memory_read(inject->pid, address + used, text + used, 1) && text[used]) used++;
  text[used] = 0;
}

uint64_t inject_libc(struct inject *inject, const char *name) { return symbol(inject, name); }
