// Stacks side by side in one mapping, as all are with a new C library and those without a guard are with any: of the
// ended thread's nothing counts, of those of threads that wait what they use.
// build: -pthread
// expect direct 150 in 1 at @ended
// expect direct 170 in 1 at @passed
#include "planted.h"
#include <pthread.h>
#include <semaphore.h>

#define WAITING 3
#define COPIES 512

static sem_t ready, never;

static void *thread_end(void *unused) {
  void *block = malloc(150); // @ended
  void *volatile held[COPIES];
  for (size_t i = 0; i < COPIES; i++) held[i] = block;
  return held[0] == unused ? NULL : unused;
}

static __attribute__((noinline)) void lose(void) {
  void *block = malloc(170); // @passed
  void *volatile held[COPIES];
  for (size_t i = 0; i < COPIES; i++) held[i] = block;
}

// Below the frames of what the thread calls later, which need not write all that is theirs.
static __attribute__((noinline)) void lose_below(void) {
  volatile unsigned char room[4096] = {0};
  lose();
  room[0] = 1;
}

static void *thread_wait(void *number) {
  void *volatile held = malloc(200 + (size_t)number); // @held
  if ((size_t)number == 1) lose_below();
  sem_post(&ready);
  sem_wait(&never);
  return held;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t ended, waiting;
  sem_init(&ready, 0, 0);
  sem_init(&never, 0, 0);
  pthread_attr_init(&attributes);
  pthread_attr_setguardsize(&attributes, 0);
  pthread_create(&waiting, &attributes, thread_wait, (void *)0);
  sem_wait(&ready);
  pthread_create(&ended, NULL, thread_end, NULL);
  for (size_t i = 1; i < WAITING; i++) {
    pthread_create(&waiting, &attributes, thread_wait, (void *)i);
    sem_wait(&ready);
  }
  pthread_join(ended, NULL);
  stack_scrub();
  return 0;
}
