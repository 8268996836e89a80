// gcc -g -pthread fork_mt.c -o fork_mt
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int stop;
static void *churn(void *a) { while (!stop) free(malloc(1 + rand() % 5000)); return a; }
int main(void) {
  pthread_t t[4]; int bad = 0, st;
  for (int i = 0; i < 4; i++) pthread_create(t + i, 0, churn, 0);
  for (int i = 0; i < 300; i++) {
    pid_t c = fork();
    if (!c) { alarm(10); void *p = malloc(64); free(p); free(malloc(1 << 20)); _exit(0); }
    waitpid(c, &st, 0); bad += st != 0;        // SIGALRM in the child = inherited lock
  }
  stop = 1; for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return bad;
}
