#include "guard.h"

#include <signal.h>
#include <ucontext.h>

#include "sys.h"
#include "sys_signal.h"

static struct {
  void *jump[5]; // __builtin_setjmp: frame pointer, address, stack pointer
  bool running;
  int tid;
  struct sys_action segv, bus;
  uint64_t mask;
} guard;

static const struct sys_action *previous_action(int signal) { return signal == SIGBUS ? &guard.bus : &guard.segv; }

// Goes back by changing where the handler returns to, so that the kernel restores mask and alternate stack.
// A fault that is not the scan's own happens again under the program's action.
static void guard_handler(int signal, siginfo_t *info, void *context) {
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (!guard.running || sys_tid() != guard.tid) {
    sys_action_put_back(signal, previous_action(signal));
    return;
  }
  registers[REG_RBP] = (greg_t)guard.jump[0];
  registers[REG_RIP] = (greg_t)guard.jump[1];
  registers[REG_RSP] = (greg_t)guard.jump[2];
}

void guard_begin(void) {
  struct sys_action action = {.handler = guard_handler, .flags = SA_SIGINFO};
  guard.tid = sys_tid();
  guard.running = false;
  sys_action_set(SIGSEGV, &action, &guard.segv);
  sys_action_set(SIGBUS, &action, &guard.bus);
  uint64_t faults = sys_signal_bit(SIGSEGV) | sys_signal_bit(SIGBUS); // blocked, they would kill
  sys_call4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&faults, (long)&guard.mask, sizeof faults);
}

void guard_end(void) {
  sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&guard.mask, 0, sizeof guard.mask);
  sys_action_put_back(SIGSEGV, &guard.segv);
  sys_action_put_back(SIGBUS, &guard.bus);
}

HT_NOINLINE bool guard_run(void (*body)(void *), void *context) {
  if (__builtin_setjmp(guard.jump)) {
    guard.running = false;
    return false;
  }
  guard.running = true;
  body(context);
  guard.running = false;
  return true;
}
