#include "call_resume.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sys_signal.h"

#define SYSCALL_BYTES 2u // 0f 05
#define MOV_BYTES 5u     // b8 imm32: mov $number, %eax
#define MOV_OPCODE 0xb8u
#define GAP_MOST 8u      // bytes between the two
#define NUMBER_MOST 1023 // of system calls

// Calls that return EINTR after any handler, and that begin anew with the same arguments do what the program asked for.
static bool call_resumes(long call) {
  static const short calls[] = {
      SYS_poll,         SYS_ppoll,      SYS_select,          SYS_pselect6, SYS_epoll_wait,    SYS_epoll_pwait,
      SYS_epoll_pwait2, SYS_nanosleep,  SYS_clock_nanosleep, SYS_pause,    SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
      SYS_semop,        SYS_semtimedop, SYS_msgrcv,          SYS_msgsnd,   SYS_futex,         SYS_io_getevents,
      SYS_read,         SYS_recvfrom,   SYS_recvmsg,         SYS_recvmmsg, SYS_accept,        SYS_accept4};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i] == call) return true;
  return false;
}

static bool code_read(uintptr_t start, void *code, size_t bytes) {
  if (!sys_readable(start) || !sys_readable(start + bytes - 1)) return false;
  memcpy(code, (const void *)start, bytes);
  return true;
}

// The number in the code that made the call; -1: it is not there. Between the number and the call there may be an
// argument that comes last, as in glibc's pselect.
static long number_in_code(uintptr_t pc) {
  uint8_t code[MOV_BYTES + GAP_MOST + SYSCALL_BYTES];
  uint32_t number;
  if (!code_read(pc - sizeof code, code, sizeof code)) return -1;
  const uint8_t *end = code + sizeof code - SYSCALL_BYTES;
  if (end[0] != 0x0f || end[1] != 0x05) return -1;
  for (const uint8_t *at = end - MOV_BYTES; at >= code; at--) {
    memcpy(&number, at + 1, sizeof number);
    if (at[0] == MOV_OPCODE && number <= NUMBER_MOST) return (long)number;
  }
  return -1;
}

// ---- glibc 2.41 and later: calls that a thread may be cancelled in
//
// All of them are made by one function, __internal_syscall_cancel (nptl/cancellation.c), whose seventh argument, on the
// stack, is the number: by itself where the process has one thread,
//     mov disp(%rsp),%rax; syscall
// and else by __syscall_cancel_arch (sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S), whose own frame and registers no
// longer have the number when it comes to
//     mov %r11,8(%rsp); syscall; ret
// The argument of the outer function lies above the return address of who called the function: the first word up the
// stack behind a call of just that function.

#define FUNCTION_BYTES 512u // of __internal_syscall_cancel at most; 137 in Debian 13
#define FRAME_WORDS 16      // of its stack frame at most
#define CALL_BYTES 5u       // e8 rel32

// Whether `address` is behind a call of the function that has the code at `inside`.
static bool is_behind_call_of(uintptr_t address, uintptr_t inside) {
  uint8_t code[CALL_BYTES];
  int32_t relative;
  bool is_near = address - inside < 1ul << 31 || inside - address < 1ul << 31; // a word that may be an address at all
  if (!is_near || !code_read(address - CALL_BYTES, code, sizeof code)) return false;
  memcpy(&relative, code + 1, sizeof relative);
  uintptr_t function = address + (uintptr_t)(intptr_t)relative;
  return code[0] == 0xe8 && function <= inside && inside - function < FUNCTION_BYTES;
}

// Where the seventh argument of the function that runs at `inside` stands; 0: not found.
static uintptr_t seventh_argument(uintptr_t inside, uintptr_t stack_pointer) {
  uintptr_t word;
  for (uintptr_t at = stack_pointer; at < stack_pointer + FRAME_WORDS * sizeof word; at += sizeof word)
    if (code_read(at, &word, sizeof word) && is_behind_call_of(word, inside)) return at + sizeof word;
  return 0;
}

static long number_on_stack(uintptr_t pc, uintptr_t stack_pointer, bool *shared) {
  static const uint8_t by_itself[] = {0x48, 0x8b, 0x44, 0x24}, by_arch[] = {0x4c, 0x89, 0x5c, 0x24, 0x08};
  uint8_t code[sizeof by_arch + SYSCALL_BYTES];
  uintptr_t argument = 0, outside;
  *shared = false;
  if (!code_read(pc - sizeof code, code, sizeof code) || code[5] != 0x0f || code[6] != 0x05) return -1;
  if (memcmp(code, by_itself, sizeof by_itself) == 0) {
    argument = seventh_argument(pc, stack_pointer);
    *shared = argument == stack_pointer + code[4];
  } else if (memcmp(code, by_arch, sizeof by_arch) == 0 && code_read(stack_pointer, &outside, sizeof outside)) {
    argument = seventh_argument(outside, stack_pointer + sizeof outside);
    *shared = true;
  }
  uint64_t number;
  bool found = *shared && argument && code_read(argument, &number, sizeof number);
  return found && number <= NUMBER_MOST ? (long)number : -1;
}

// `seen`: the number of the call that the thread was seen asleep in, with `seen_pc`.
static long call_number(const greg_t *registers, long seen, uintptr_t seen_pc) {
  uintptr_t pc = (uintptr_t)registers[REG_RIP];
  bool shared;
  long number = number_on_stack(pc, (uintptr_t)registers[REG_RSP], &shared);
  if (shared) return number; // the address says nothing about which call it was
  return pc == seen_pc ? seen : number_in_code(pc);
}

// ---- what is left of the time of this thread's call
//
// Nobody knows when a call began that is interrupted for the first time: it begins anew with its whole time once, and
// is then known by a mark in the register that holds its time, which no program puts there. When it is interrupted
// again, the time that has passed comes off, so that interruptions without end do not keep it from ending.

#define TLS __thread __attribute__((tls_model("initial-exec")))

static TLS struct timespec time_left; // for calls that take a pointer to their time: they are pointed here
static TLS uint64_t deadline_ns;
static TLS greg_t marked; // the register of a call that takes a number

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000ull + (uint64_t)time->tv_nsec;
}

#define FOREVER_S 1000000000 // 31 years, and no overflow

static uint64_t left_ns(void) {
  uint64_t now_ns = sys_now_ns();
  return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

// `asked` and `left`: the registers with the sleep's time and with where the kernel writes what is left of it when it
// is interrupted. A sleep that did not ask for that (usleep) asks from now on.
static void sleep_resume(greg_t *registers, int asked, int left) {
  if (registers[left]) {
    registers[asked] = registers[left];
  } else {
    time_left = *(const struct timespec *)registers[asked];
    registers[asked] = registers[left] = (greg_t)(uintptr_t)&time_left;
  }
}

// The kernel writes nothing there.
static void pointer_resume(greg_t *registers, int asked) {
  const struct timespec *time = (const struct timespec *)registers[asked];
  if (!time || time->tv_sec >= FOREVER_S) return;
  if (time != &time_left) {
    time_left = *time;
    deadline_ns = sys_now_ns() + nanoseconds(time);
  } else {
    uint64_t left = left_ns();
    time_left = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
  }
  registers[asked] = (greg_t)(uintptr_t)&time_left;
}

// The kernel looks at the lower half of the register only: `int timeout`.
#define MARK 0x68656170ull // above it

static void milliseconds_resume(greg_t *registers, int asked) {
  uint64_t milliseconds = (uint32_t)registers[asked];
  if ((int32_t)milliseconds <= 0) return;
  if (registers[asked] != marked)
    deadline_ns = sys_now_ns() + milliseconds * 1000000;
  else
    milliseconds = (left_ns() + 999999) / 1000000;
  registers[asked] = marked = (greg_t)(MARK << 32 | milliseconds);
}

// The kernel itself takes off what has passed of the time of select, pselect6 and ppoll.
static void time_resume(long call, greg_t *registers) {
  const unsigned private_flag = 128; // FUTEX_PRIVATE_FLAG
  switch (call) {
  case SYS_nanosleep:
    return sleep_resume(registers, REG_RDI, REG_RSI);
  case SYS_clock_nanosleep:
    if (registers[REG_RSI] == 0) sleep_resume(registers, REG_RDX, REG_R10);
    return;
  case SYS_poll:
    return milliseconds_resume(registers, REG_RDX);
  case SYS_epoll_wait:
  case SYS_epoll_pwait:
    return milliseconds_resume(registers, REG_R10);
  case SYS_rt_sigtimedwait:
    return pointer_resume(registers, REG_RDX);
  case SYS_epoll_pwait2:
  case SYS_semtimedop:
    return pointer_resume(registers, REG_R10);
  case SYS_io_getevents:
    return pointer_resume(registers, REG_R8);
  case SYS_futex: // FUTEX_WAIT is 0; the others that wait take a point in time
    if (((unsigned)registers[REG_RSI] & ~private_flag) == 0) pointer_resume(registers, REG_R10);
    return;
  default:
    return;
  }
}

// ---- handlers of the program's that wait until ours has returned

// Of the linker: where this library begins and ends in memory.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct waiting {
  bool any, interrupts; // one; one without SA_RESTART
};

static void waiting_add(struct waiting *waiting, int signal) {
  struct sys_action action;
  if (sys_action_set(signal, NULL, &action) != 0) return;
  uintptr_t handler = (uintptr_t)action.handler, own = (uintptr_t)__ehdr_start;
  if (handler == (uintptr_t)SIG_DFL || handler == (uintptr_t)SIG_IGN || handler - own < (uintptr_t)_end - own) return;
  waiting->any = true;
  waiting->interrupts |= !(action.flags & SA_RESTART);
}

static struct waiting waiting_find(const ucontext_t *interrupted) {
  struct waiting waiting = {false, false};
  uint64_t pending, blocked;
  memcpy(&blocked, &interrupted->uc_sigmask, sizeof blocked);
  if (sys_call3(SYS_rt_sigpending, (long)&pending, sizeof pending, 0) < 0) return waiting;
  for (pending &= ~blocked; pending; pending &= pending - 1) waiting_add(&waiting, __builtin_ctzll(pending) + 1);
  return waiting;
}

// Calls that only handlers with SA_RESTART let go on.
static bool call_restarts(long call, const greg_t *registers) {
  static const short calls[] = {SYS_read,    SYS_readv,  SYS_write,   SYS_writev, SYS_recvfrom,
                                SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_accept, SYS_accept4,
                                SYS_connect, SYS_wait4,  SYS_waitid,  SYS_flock};
  const unsigned wait_bitset = 9, flags = 128 | 256; // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME
  unsigned operation = (unsigned)registers[REG_RSI] & ~flags;
  if (call == SYS_futex) return operation == 0 || operation == wait_bitset;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i] == call) return true;
  return false;
}

// The kernel has put the thread back in front of the call that it slept in, since our handler has SA_RESTART.
static bool is_before_call(long call, uintptr_t call_pc, const greg_t *registers) {
  return call >= 0 && registers[REG_RAX] == call && (uintptr_t)registers[REG_RIP] + SYSCALL_BYTES == call_pc;
}

static void call_interrupt(greg_t *registers) {
  registers[REG_RAX] = -EINTR;
  registers[REG_RIP] += SYSCALL_BYTES;
}

void call_resume(long call, uintptr_t call_pc, ucontext_t *interrupted) {
  greg_t *registers = interrupted->uc_mcontext.gregs;
  struct waiting waiting = waiting_find(interrupted);
  if (waiting.interrupts && is_before_call(call, call_pc, registers) && call_restarts(call, registers))
    return call_interrupt(registers);
  if (registers[REG_RAX] != -EINTR || waiting.any) return;
  call = call_number(registers, call, call_pc);
  if (!call_resumes(call)) return;
  time_resume(call, registers);
  registers[REG_RAX] = call;
  registers[REG_RIP] -= SYSCALL_BYTES;
}
