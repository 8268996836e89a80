// gcc -g -pthread fork_loader.c -o fork_loader
// Forks while another thread has the loader's lock most of the time: nobody gives it back in the child.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int object_visit(struct dl_phdr_info *info, size_t size, void *context) {
  (void)info, (void)size, (void)context;
  for (volatile int i = 0; i < 2000; i++) continue;
  return 0;
}

static void *walk(void *unused) {
  for (;;) dl_iterate_phdr(object_visit, unused);
  return NULL;
}

static void lose(void) {
  volatile char *block = malloc(1000);
  block[0] = 1;
}

static void wipe(void) {
  volatile char stack[4096];
  for (unsigned i = 0; i < sizeof stack; i++) stack[i] = 0;
}

int main(void) {
  pthread_t thread;
  int bad = 0;
  pthread_create(&thread, NULL, walk, NULL);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60); // hangs: the status tells
      lose();
      wipe();
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  _exit(bad);
}
