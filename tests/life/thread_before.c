// Two threads that are there from the start: each allocates and ends when a line comes in, one after the other, and the
// program says then that it is gone.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct work {
  sem_t go;
  pthread_t thread;
};

static void *volatile kept[2][100];

static __attribute__((noinline)) void keep(void *volatile *place) {
  for (int i = 0; i < 100; i++) place[i] = malloc(1000); // kept
}

static struct work works[2];

static void *thread_run(void *number) {
  sem_wait(&works[(long)number].go);
  keep(kept[(long)number]);
  return NULL;
}

int main(void) {
  static const char *const names[] = {"ends early", "lives on"};
  char line[16];
  for (long i = 0; i < 2; i++) {
    sem_init(&works[i].go, 0, 0);
    pthread_create(&works[i].thread, NULL, thread_run, (void *)i);
    pthread_setname_np(works[i].thread, names[i]);
  }
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < 2 && fgets(line, sizeof line, stdin); i++) {
    sem_post(&works[i].go);
    pthread_join(works[i].thread, NULL);
    puts("gone");
    fflush(stdout);
  }
  while (getchar() != EOF) continue;
  return 0;
}
