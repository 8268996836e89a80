#include "relay.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "waker.h"

static const int relayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2};
#define RELAYED_COUNT (sizeof relayed / sizeof relayed[0])

static sigset_t mask_before;
static struct sigaction child_action_before, actions_before[RELAYED_COUNT];
static volatile pid_t relay_child; // 0: nobody to pass signals on to

static void relay_signal(int signal, siginfo_t *info, void *context) {
  (void)context;
  int saved_errno = errno;
  // The terminal sends to the whole foreground group: CMD has it already. What CMD sends to its group is not for it.
  bool has_it = info->si_code == SI_KERNEL || info->si_pid == relay_child;
  if (relay_child && !has_it) kill(relay_child, signal);
  errno = saved_errno;
}

static void relayed_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < RELAYED_COUNT; i++) sigaddset(set, relayed[i]);
}

void relay_prepare(void) {
  sigset_t set;
  relayed_set(&set);
  sigprocmask(SIG_BLOCK, &set, &mask_before);
  // Where SIGCHLD is ignored, children leave no status behind.
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &action, &child_action_before);
}

void relay_undo(void) {
  sigaction(SIGCHLD, &child_action_before, NULL);
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

static void relay_install(void) {
  struct sigaction action = {.sa_sigaction = relay_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  relayed_set(&action.sa_mask);
  for (size_t i = 0; i < RELAYED_COUNT; i++) {
    sigaction(relayed[i], NULL, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) // nohup: ignored by CMD too
      sigaction(relayed[i], &action, NULL);
  }
}

// CMD has stopped: heaptide stops too, so that the shell takes over, and CMD goes on when heaptide does. What happens
// to CMD alone meanwhile (it is killed or continued by its own pid) wakes heaptide.
static void relay_stop(pid_t child) {
  // The shell's SIGCONT to the whole group may wake heaptide first, with CMD's stop still to be seen.
  nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)child, &info, WCONTINUED | WNOHANG) == 0 && info.si_pid) return;
  pid_t waker = waker_start(child);
  raise(SIGSTOP);
  waker_end(waker);
  kill(child, SIGCONT);
}

int relay_wait(pid_t child) {
  relay_child = child;
  relay_install();
  sigset_t set;
  relayed_set(&set);
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
  for (;;) {
    siginfo_t info;
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOWAIT) < 0) continue; // EINTR
    if (info.si_code != CLD_STOPPED) break;
    waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG);
    relay_stop(child);
  }
  // From here on the pid may be anybody's.
  sigprocmask(SIG_BLOCK, &set, NULL);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  relay_child = 0;
  for (size_t i = 0; i < RELAYED_COUNT; i++) sigaction(relayed[i], &actions_before[i], NULL);
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
  return status;
}

void relay_die_of(int signal_number) {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(signal_number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  raise(signal_number);
  _exit(128 + signal_number); // a signal whose default is not to kill cannot have ended CMD
}
