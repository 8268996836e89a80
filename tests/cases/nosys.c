// gcc -g nosys.c -o nosys        (direct 1000; the filter refuses the calls leak scanners like)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static void *keep;
#define DENY(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1)
int main(void) {
  struct sock_filter f[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    DENY(SYS_ptrace), DENY(SYS_process_vm_readv), DENY(SYS_process_vm_writev), DENY(SYS_kcmp),
    DENY(SYS_perf_event_open), DENY(SYS_userfaultfd), DENY(SYS_mincore), DENY(SYS_tgkill),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog pr = {sizeof f / sizeof *f, f};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);                // /proc/self/mem is closed too
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &pr)) return 1;
  volatile char *p = malloc(1000); p[0] = 1; p = 0;  // lost
  keep = malloc(2000); return 0;                     // reachable
}
