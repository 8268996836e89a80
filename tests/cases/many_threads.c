// gcc -g -O1 -pthread many_threads.c -o many_threads
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t b;
static void *one(void *a) { free(malloc(100)); void *p = malloc(8); pthread_barrier_wait(&b); free(p); return a; }
static void *brief(void *a) { free(malloc(100)); return a; }
int main(void) {
  enum { N = 2000 }; static pthread_t t[N]; pthread_attr_t at; pthread_attr_init(&at);
  pthread_attr_setstacksize(&at, 65536); pthread_barrier_init(&b, 0, N);
  for (int i = 0; i < N; i++) if (pthread_create(t + i, &at, one, 0)) return 77;   // 2000 alive at once
  for (int i = 0; i < N; i++) pthread_join(t[i], 0);
  for (int i = 0; i < 60000; i++) { pthread_t x; if (pthread_create(&x, &at, brief, 0)) return 77; pthread_join(x, 0); }
  return 0;
}
