// 2000 threads that lose 100 bytes each and live on. With `born`, others are born and end meanwhile. Ends when its
// input does; ends with 77 where so many threads are not allowed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../planted/planted.h"

enum { THREADS = 2000, STACK_BYTES = 128 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lost_by;
static volatile int over;

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(100); // 100 lost
  lost[0] = 1;
}

static void *live(void *unused) {
  lose();
  stack_scrub();
  pthread_mutex_lock(&mutex);
  lost_by++;
  pthread_cond_broadcast(&changed);
  while (!over) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void *end_at_once(void *unused) {
  free(malloc(50));
  return unused;
}

static void *bear(void *unused) {
  pthread_t thread;
  while (!over)
    if (pthread_create(&thread, NULL, end_at_once, NULL) == 0) pthread_join(thread, NULL);
  return unused;
}

int main(int argc, char **argv) {
  static pthread_t threads[THREADS];
  pthread_t bearing;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], &small, live, NULL) != 0) return 77;
  pthread_mutex_lock(&mutex);
  while (lost_by < THREADS) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  int born = argc > 1 && !strcmp(argv[1], "born") && pthread_create(&bearing, NULL, bear, NULL) == 0;
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) continue;
  pthread_mutex_lock(&mutex);
  over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (born) pthread_join(bearing, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
