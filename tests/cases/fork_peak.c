// A program whose threads have used up all the time that following the peak may take, and then forks: the child's own
// peak is 3 MiB and 64 KiB, to the byte.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, RESTING = 200, ROUNDS = 10000, BLOCK = 100000, CHILD_HELD = 64 << 10, CHILD_PEAK = 3 << 20 };

void *volatile kept;
static sem_t turns[THREADS], over;
static pthread_barrier_t rested;

// Whoever has allocated once is looked at with each peak.
static void *rest(void *unused) {
  free(malloc(1));
  pthread_barrier_wait(&rested);
  sem_wait(&over);
  return unused;
}

// Each block is a new peak, as the one before it stays until it is there. The threads take turns: one that works alone
// is followed at next to no cost.
static void *rise(void *turn) {
  size_t place = (size_t)((sem_t *)turn - turns);
  void *before = NULL;
  for (int i = 0; i < ROUNDS; i++) {
    sem_wait(turn);
    void *block = malloc(BLOCK + i);
    free(before);
    before = block;
    sem_post(&turns[(place + 1) % THREADS]);
  }
  free(before);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS], resting[RESTING];
  sem_init(&over, 0, 0);
  pthread_barrier_init(&rested, NULL, RESTING + 1);
  for (int i = 0; i < RESTING; i++) pthread_create(&resting[i], NULL, rest, NULL);
  pthread_barrier_wait(&rested);
  for (int i = 0; i < THREADS; i++) sem_init(&turns[i], 0, i == 0);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, rise, &turns[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < RESTING; i++) sem_post(&over);
  for (int i = 0; i < RESTING; i++) pthread_join(resting[i], NULL);
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
