// What an ended thread held on its stack and in its own variables is lost with it.
// build: -pthread
// expect direct 150 in 1 at @stack
// expect direct 160 in 1 at @own
#include "planted.h"
#include <pthread.h>

static __thread void *own;

static void *thread_run(void *unused) {
  void *volatile held = malloc(150); // @stack
  own = malloc(160);                 // @own
  return held == unused ? NULL : unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_run, NULL);
  pthread_join(thread, NULL);
  stack_scrub();
  return 0;
}
