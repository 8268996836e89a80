#include "hook_signal.h"

#include <errno.h>

#include "alt_stack.h"
#include "real.h"
#include "sys_signal.h"
#include "thread.h"

struct own_action {
  void (*handler)(int, siginfo_t *, void *); // NULL: the signal is the program's alone
  int flags;
  bool blocks_all; // signals, while it runs
};
static struct own_action own_actions[_NSIG];
// What the program believes to be installed while our handler is; flags and mask as it set them.
static struct sigaction believed[_NSIG];
// What the kernel had before our handler; gone once the program has set something since.
static struct sys_action replaced[_NSIG];
static bool is_replaced[_NSIG];

static bool is_own(int signal, const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == own_actions[signal].handler;
}

static void own_install(int signal) {
  struct sigaction own = {.sa_sigaction = own_actions[signal].handler,
                          .sa_flags = SA_SIGINFO | own_actions[signal].flags};
  if (own_actions[signal].blocks_all) sigfillset(&own.sa_mask);
  real.sigaction(signal, &own, NULL);
}

void hook_signal_own(int signal, void (*handler)(int, siginfo_t *, void *), int flags, bool blocks_all) {
  struct sigaction now;
  own_actions[signal] = (struct own_action){handler, flags, blocks_all};
  if (real.sigaction(signal, NULL, &now) != 0 || now.sa_handler != SIG_DFL) return;
  believed[signal] = now;
  is_replaced[signal] = sys_action_set(signal, NULL, &replaced[signal]) == 0;
  own_install(signal);
}

static void own_remove(int signal) {
  if (is_replaced[signal])
    sys_action_put_back(signal, &replaced[signal]);
  else
    real.sigaction(signal, &believed[signal], NULL);
}

void hook_signal_release(void) {
  for (int signal = 1; signal < _NSIG; signal++) {
    struct sigaction now;
    bool own = own_actions[signal].handler && real.sigaction(signal, NULL, &now) == 0 && is_own(signal, &now);
    own_actions[signal].handler = NULL;
    if (own) own_remove(signal);
  }
}

// sigaction as the program would have it without us.
static int action_change(int signal, const struct sigaction *action, struct sigaction *old) {
  real_ready();
  if (signal <= 0 || signal >= _NSIG || !own_actions[signal].handler) return real.sigaction(signal, action, old);
  struct sigaction before, wanted;
  if (action) wanted = *action; // `old` may be the same memory
  int result = real.sigaction(signal, action, &before);
  if (result != 0) return result;
  if (is_own(signal, &before)) before = believed[signal];
  if (action && wanted.sa_handler == SIG_DFL) {
    believed[signal] = wanted;
    is_replaced[signal] = false;
    own_install(signal);
  }
  if (old) *old = before;
  return 0;
}

HT_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  return action_change(signal, action, old);
}

// signal() of the BSD kind, glibc's default: restarts calls, the signal stays blocked in its handler.
static __sighandler_t handler_change(int signal, __sighandler_t handler, int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
  if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
  if (!(flags & SA_NODEFER)) sigaddset(&action.sa_mask, signal);
  return action_change(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

HT_EXPORT __sighandler_t signal(int number, __sighandler_t handler) {
  return handler_change(number, handler, SA_RESTART);
}
HT_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler) {
  return handler_change(number, handler, SA_RESTART);
}
HT_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler) {
  return handler_change(number, handler, SA_RESETHAND | SA_NODEFER);
}

HT_EXPORT int sigaltstack(const stack_t *wanted, stack_t *old) {
  struct thread *thread = thread_tls;
  long error = alt_stack_change(thread ? (char *)thread - ALT_STACK_BYTES : NULL, wanted, old);
  if (error) errno = (int)-error;
  return error ? -1 : 0;
}
