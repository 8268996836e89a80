#include "copy.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core.h"
#include "lock.h"
#include "sampler.h"
#include "sys.h"
#include "sys_signal.h"
#include "thread.h"

#define LOOK_NS 1000000l // between two looks at a copy that is waited for
#define WRITTEN_STATUS 0
#define FAILED_STATUS 1

// ---- in the copy

// Pipes and sockets of the program must end when the program ends them. Before Linux 5.9, which has no close_range:
// one by one as far as the limit tells.
static void descriptors_close(void) {
  if (sys_call3(SYS_close_range, 0, ~0u, 0) == 0) return;
  struct rlimit limit = {.rlim_cur = 1024};
  sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit);
  for (rlim_t fd = 0; fd < limit.rlim_cur && fd < 65536; fd++) sys_close((int)fd);
}

// A fault in here must not end in the program's crash handler, nor in a core dump of its own.
static void faults_quiet(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  const struct sys_action deadly = {.handler = (void *)SIG_DFL};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sys_action_set(faults[i], &deadly, NULL);
  struct rlimit none = {0, 0};
  sys_call4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&none, 0);
}

// Where memory runs out, the copy is to go, and not the program.
static void memory_yield(void) {
  int fd = sys_open("/proc/self/oom_score_adj", O_WRONLY, 0);
  if (fd < 0) return;
  sys_call3(SYS_write, fd, (long)"1000", 4);
  sys_close(fd);
}

static void copy_become(int pid, int tid, int parent_pid) {
  descriptors_close();
  faults_quiet();
  sys_copy_mark(pid, tid, parent_pid);
  sampler_freeze();
  thread_locks_reset();
  if (thread_tls) thread_tls->in_hook = THREAD_COPIED; // front ends see that nothing of the program's may be called
  memory_yield();
}

void copy_end(bool written) {
  for (;;) sys_call3(SYS_exit_group, written ? WRITTEN_STATUS : FAILED_STATUS, 0, 0);
}

// ---- in the original

// CLONE_UNTRACED: a debugger or strace that follows children is not told of it.
int copy_start(void) {
  int pid = sys_pid(), tid = sys_tid(), parent_pid = sys_parent_pid();
  int copy = (int)sys_call6(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0, 0);
  if (copy == 0) copy_become(pid, tid, parent_pid);
  return copy;
}

// Without a status to be had (somebody else has waited for it with __WALL) nothing is known: the file will tell.
enum copy_state copy_look(int pid) {
  int status = 0;
  long ended = sys_call4(SYS_wait4, pid, (long)&status, WNOHANG | __WALL, 0);
  if (ended == 0) return COPY_RUNS;
  return ended == pid && status == WRITTEN_STATUS ? COPY_WRITTEN : COPY_FAILED;
}

void copy_kill(int pid) {
  sys_call3(SYS_kill, pid, SIGKILL, 0);
  sys_call4(SYS_wait4, pid, 0, __WALL, 0);
}

enum copy_state copy_wait(int pid, uint64_t until_ns) {
  enum copy_state state;
  while ((state = copy_look(pid)) == COPY_RUNS) {
    if (sys_now_ns() >= until_ns) {
      copy_kill(pid);
      return COPY_FAILED;
    }
    struct timespec pause = {0, LOOK_NS};
    sys_call3(SYS_nanosleep, (long)&pause, 0, 0);
  }
  return state;
}
