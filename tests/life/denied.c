// A filter denies what leak scanners like to call, and all descriptors from 3 up are closed. Loses 1000 bytes, keeps
// 2000 in a global and 3000 on the stack of a thread; says `ready` and waits for its input's end.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *kept;
static volatile int waits;

#define DENY(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)

static int deny(void) {
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 DENY(SYS_ptrace),
                                 DENY(SYS_process_vm_readv),
                                 DENY(SYS_process_vm_writev),
                                 DENY(SYS_tgkill),
                                 DENY(SYS_tkill),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(1000); // lost
  lost[0] = 1;
}

static void *hold(void *unused) {
  char *volatile held = malloc(3000);
  held[0] = 1;
  waits = 1;
  for (;;) pause();
  return unused;
}

int main(void) {
  char byte;
  pthread_t thread;
  if (deny()) return 77;
  lose();
  kept = malloc(2000);
  pthread_create(&thread, NULL, hold, NULL);
  while (!waits) usleep(1000);
  puts("ready");
  fflush(stdout);
  for (int fd = 3; fd < 1024; fd++) close(fd);
  while (read(0, &byte, 1) > 0) continue;
  return 0;
}
