// Held by pthread_setspecific: a key in the thread's own table, and one beyond it (a second level that libc allocates).
// build: -pthread
// expect none
#include "planted.h"
#include <pthread.h>

int main(void) {
  pthread_key_t keys[40];
  for (int i = 0; i < 40; i++) pthread_key_create(&keys[i], NULL);
  pthread_setspecific(keys[1], malloc(100));
  pthread_setspecific(keys[39], malloc(200));
  stack_scrub();
  return 0;
}
