// Loses a block, where it is called or in a thread of its own.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void lose(size_t bytes) {
  char *volatile block = malloc(bytes);
  memset(block, 0, bytes);
  block = NULL;
}

static void *thread_main(void *bytes) {
  lose((size_t)bytes);
  return NULL;
}

void lose_in_thread(size_t bytes) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_main, (void *)bytes);
  pthread_join(thread, NULL);
}
