// sources: native/call_resume.c native/sys.c native/sys_signal.c native/lock.c
// Which call a handler interrupted: calls that are made as glibc 2.41 makes those that a thread may be cancelled in.
#include "call_resume.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

// int wrapper(a1..a6, number) and the function below it, their frames as in glibc of Debian 13.
long call_single(long a1, long a2, long a3, long a4, long a5, long a6, long number);
long call_arch(long a1, long a2, long a3, long a4, long a5, long a6, long number);
long call_in_register(long a1, long a2, long a3, long number);

__asm__(".text\n"
        ".globl call_single\ncall_single:\n"
        "  sub $0x10, %rsp\n  push 0x18(%rsp)\n  call 1f\n  pop %rdx\n  pop %rcx\n  add $8, %rsp\n  ret\n"
        "1: push %rbx\n  mov %rcx, %r10\n  mov 0x10(%rsp), %rax\n  syscall\n  pop %rbx\n  ret\n"
        ".globl call_arch\ncall_arch:\n"
        "  sub $0x10, %rsp\n  push 0x18(%rsp)\n  call 2f\n  pop %rdx\n  pop %rcx\n  add $8, %rsp\n  ret\n"
        "2: push %rbx\n  push %r9\n  lea -0x80(%rsp), %r11\n  mov %rcx, %r9\n  mov %rsi, %rcx\n  push %r8\n"
        "  mov 0x20(%rsp), %rsi\n  mov %rdx, %r8\n  mov %rdi, %rdx\n  mov %r11, %rdi\n  call 3f\n"
        "  pop %rcx\n  pop %rsi\n  pop %rbx\n  ret\n"
        "3: mov %rdi, %r11\n  mov %rsi, %rax\n  mov %rdx, %rdi\n  mov %rcx, %rsi\n  mov %r8, %rdx\n"
        "  mov %r9, %r10\n  mov 8(%rsp), %r8\n  mov 16(%rsp), %r9\n  mov %r11, 8(%rsp)\n  syscall\n  ret\n"
        ".globl call_in_register\ncall_in_register:\n  mov %rcx, %rax\n  syscall\n  ret\n");

static volatile int interruptions;
static long seen; // what the sender saw
static volatile uintptr_t last_pc;
static uintptr_t seen_pc;

static void handle(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  interruptions++;
  last_pc = (uintptr_t)registers[REG_RIP];
  call_resume(seen, seen_pc, context);
}

static void storm_begin(void) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 5000}, {0, 5000}};
  interruptions = 0;
  setitimer(ITIMER_REAL, &often, NULL);
}

static void storm_end(void) {
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
}

typedef long (*caller)(long, long, long, long, long, long, long);

static void test_calls_go_on(caller call) {
  struct pollfd nothing = {.fd = -1};
  struct timespec nap = {.tv_nsec = 60000000}, left = {0};
  seen = SYS_read, seen_pc = 0;
  storm_begin();
  EXPECT(call((long)&nothing, 1, 60, 0, 0, 0, SYS_poll) == 0);
  EXPECT(call((long)&nap, (long)&left, 0, 0, 0, 0, SYS_nanosleep) == 0);
  storm_end();
  EXPECT(interruptions > 2);
}

// All of these calls return to one address, so that the call seen there may be another one than was interrupted.
static void test_what_was_seen_does_not_count(caller call) {
  struct pollfd nothing = {.fd = -1};
  seen = SYS_pause, seen_pc = last_pc;
  storm_begin();
  EXPECT(call((long)&nothing, 1, 60, 0, 0, 0, SYS_poll) == 0);
  storm_end();
  EXPECT(last_pc == seen_pc);
}

// Its number is nowhere: only what was seen tells.
static void test_a_number_from_a_register(void) {
  struct pollfd nothing = {.fd = -1};
  seen = -1, seen_pc = 0;
  storm_begin();
  EXPECT(call_in_register((long)&nothing, 1, 60, SYS_poll) == -EINTR);
  seen = SYS_poll, seen_pc = last_pc;
  EXPECT(call_in_register((long)&nothing, 1, 60, SYS_poll) == 0);
  storm_end();
}

int main(void) {
  static const caller callers[] = {call_single, call_arch};
  for (int i = 0; i < 2; i++) {
    test_calls_go_on(callers[i]);
    test_what_was_seen_does_not_count(callers[i]);
  }
  test_a_number_from_a_register();
  return failures != 0;
}
