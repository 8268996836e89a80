// Held only by a register of a thread that spins.
// build: -pthread -O1
// expect none
#include "planted.h"
#include <pthread.h>

static volatile int ready;

static void *thread_run(void *unused) {
  void *held = malloc(99);
  __asm__ volatile("movl $1, %1\n1: pause\n jmp 1b" : : "r"(held), "m"(ready) : "memory");
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_run, NULL);
  while (!ready) {}
  return 0;
}
