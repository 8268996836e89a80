// Asks for a snapshot itself, labelled and not, while other threads allocate; then loses more.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int stop;

static void *churn(void *unused) {
  while (!stop) free(malloc(100));
  return unused;
}

static __attribute__((noinline)) void lose(size_t bytes) {
  volatile char *lost = malloc(bytes); // lost: 1000, then 500
  lost[0] = 1;
}

int main(void) {
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "ht_snapshot");
  pthread_t thread;
  if (!snapshot) return 3;
  pthread_create(&thread, NULL, churn, NULL);
  lose(1000);
  printf("%d %d %d\n", snapshot("before"), snapshot(NULL), snapshot("a/b") != 0);
  lose(500);
  printf("%d\n", snapshot("after"));
  stop = 1;
  pthread_join(thread, NULL);
  return 0;
}
