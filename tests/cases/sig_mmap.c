// gcc -g sig_mmap.c -o sig_mmap
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
static volatile long hits;
static void h(int s) {                    // plain system calls, fine in a handler
  void *p = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(p, 8192); hits++; (void)s;
}
int main(void) {
  struct sigaction sa = {.sa_handler = h};            // no SA_RESTART: writes see EINTR
  sigaction(SIGALRM, &sa, 0);
  struct itimerval it = {{0, 100}, {0, 100}}; setitimer(ITIMER_REAL, &it, 0);
  for (int i = 0; i < 3000000; i++) { free(malloc(i % 4000)); if (i % 3000 == 0) malloc(16); }
  it = (struct itimerval){{0, 0}, {0, 0}}; setitimer(ITIMER_REAL, &it, 0);
  return hits == 0;                                   // 1000 blocks of 16 are lost
}
