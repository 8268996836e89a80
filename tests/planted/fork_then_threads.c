// A child that goes on to start threads is a full process: its own counts, its own leaks.
// build: -pthread
// expect none
// expect child direct 4000 in 40 at @thread
#include "planted.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *thread_lose(void *unused) {
  for (int i = 0; i < 10; i++) malloc(100); // @thread
  return unused;
}

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread_lose, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    stack_scrub();
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return status != 0;
}
