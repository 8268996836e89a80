// gcc -g -pthread spawn.c -o spawn
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile int stop;
static void *churn(void *a) { while (!stop) free(malloc(100)); return a; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, churn, 0);
  char *av[] = {"true", 0}; pid_t c; int st, bad = 0;
  for (int i = 0; i < 100; i++) {
    if (posix_spawn(&c, "/bin/true", 0, 0, av, environ) == 0) { waitpid(c, &st, 0); bad += st != 0; }
    c = vfork();                                   // child shares our memory and stack
    if (c == 0) { execve("/bin/true", av, environ); _exit(127); }
    waitpid(c, &st, 0); bad += st != 0;
    bad += system("true") != 0; FILE *f = popen("true", "r"); bad += pclose(f) != 0;
  }
  stop = 1; pthread_join(t, 0); return bad;
}
