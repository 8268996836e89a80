// Threads that ended keep their rows and names, whoever uses their memory afterwards.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *argument) {
  long number = (long)argument;
  char name[16];
  snprintf(name, sizeof name, "worker %ld", number);
  pthread_setname_np(pthread_self(), name);
  for (long i = 0; i < 100 * number; i++) free(malloc(64));
  return NULL;
}
static void *idle(void *argument) { return argument; }
static void run(void *(*routine)(void *), long number) {
  pthread_t thread;
  pthread_create(&thread, NULL, routine, (void *)number);
  pthread_join(thread, NULL);
}
int main(void) {
  for (long number = 1; number <= 5; number++) run(work, number); // one after the other
  for (int i = 0; i < 20; i++) run(idle, 0);
  return 0;
}
