#include "waker.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_life.h"

#define LOOK_MS 50

// Until it is ended: the caller may not have stopped yet when it is continued for the first time.
static void wake(pid_t pid, pid_t sleeper) {
  while (getppid() == sleeper) {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000l}, NULL);
    if (process_stop_of((uint32_t)pid) == PROCESS_GOES_ON) kill(sleeper, SIGCONT);
  }
}

pid_t waker_start(pid_t pid) {
  pid_t sleeper = getpid();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before); // what is for CMD goes to the caller
  pid_t waker = fork();
  if (waker == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); // what stops the job leaves this one alone
    wake(pid, sleeper);
    _exit(0);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return waker;
}

void waker_end(pid_t waker) {
  if (waker < 0) return;
  kill(waker, SIGKILL);
  while (waitpid(waker, NULL, 0) < 0 && errno == EINTR) {}
}
