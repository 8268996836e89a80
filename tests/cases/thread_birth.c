// gcc -g -pthread thread_birth.c -o thread_birth     (0 leaks, every run)
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static void *run(void *a) { pthread_attr_t at; pthread_getattr_np(pthread_self(), &at); pthread_attr_destroy(&at); return a; }
int main(void) {
  pthread_t t[200]; for (int i = 0; i < 200; i++) pthread_create(t + i, 0, run, 0);
  exit(0);                                   // many threads are only half born here
}
