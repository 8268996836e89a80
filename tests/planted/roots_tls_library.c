// Held by a thread variable of a library that was opened at run time, in the main thread and in another one.
// build-library: libtlsroot.so -DLIBRARY -ftls-model=global-dynamic
// build: -pthread -ldl -Wl,-rpath,$ORIGIN
// expect none
#define _GNU_SOURCE
#include "planted.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#ifdef LIBRARY
static __thread void *padding[100];
static __thread void *held;
void library_hold(size_t bytes) {
  padding[0] = NULL;
  held = malloc(bytes);
}
#else
static void (*hold)(size_t);
static sem_t ready;

static void *thread_run(void *unused) {
  hold(222);
  stack_scrub();
  sem_post(&ready);
  for (;;) pause();
  return unused;
}

int main(void) {
  void *library = dlopen("libtlsroot.so", RTLD_NOW);
  if (!library) return 2;
  hold = (void (*)(size_t))dlsym(library, "library_hold");
  hold(111);
  sem_init(&ready, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, thread_run, NULL);
  sem_wait(&ready);
  stack_scrub();
  return 0;
}
#endif
