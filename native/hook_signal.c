#include "hook_signal.h"

#include <errno.h>

#include "real.h"

static void (*own_handler)(int, siginfo_t *, void *);
// What the program believes to be installed while our handler is; flags and mask as it set them.
static struct sigaction believed[_NSIG];

static bool is_deadly(int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

static bool is_own(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == own_handler;
}

static void own_install(int signal) {
  struct sigaction own = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  real.sigaction(signal, &own, NULL);
}

void hook_signal_init(void (*handler)(int, siginfo_t *, void *)) {
  static const int deadly[] = {SIGTERM, SIGINT, SIGHUP};
  own_handler = handler;
  for (unsigned i = 0; i < sizeof deadly / sizeof *deadly; i++) {
    struct sigaction now;
    if (real.sigaction(deadly[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    believed[deadly[i]] = now;
    own_install(deadly[i]);
  }
}

// sigaction as the program would have it without us.
static int action_change(int signal, const struct sigaction *action, struct sigaction *old) {
  real_ready();
  if (!own_handler || !is_deadly(signal)) return real.sigaction(signal, action, old);
  struct sigaction before, wanted;
  if (action) wanted = *action; // `old` may be the same memory
  int result = real.sigaction(signal, action, &before);
  if (result != 0) return result;
  if (is_own(&before)) before = believed[signal];
  if (action && wanted.sa_handler == SIG_DFL) {
    believed[signal] = wanted;
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
