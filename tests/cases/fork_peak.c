// A program whose threads have used up all the time that following the peak may take, and then forks: the child's own
// peak is 3 MiB and 64 KiB, to the byte.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 40000, BLOCK = 100000, CHILD_HELD = 64 << 10, CHILD_PEAK = 3 << 20 };

void *volatile kept;

// Each block is a new peak, as the one before it stays until it is there. The threads take turns: one that works alone
// is followed at next to no cost.
static void *rise(void *unused) {
  void *before = NULL;
  for (int i = 0; i < ROUNDS; i++) {
    void *block = malloc(BLOCK + i);
    free(before);
    before = block;
    sched_yield();
  }
  free(before);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, rise, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    kept = malloc(CHILD_HELD);
    free(malloc(CHILD_PEAK));
    kept = realloc(kept, CHILD_HELD / 2);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
