// Names as the kernel has them: 15 bytes, cut wherever they end, in any encoding. Each belongs to a thread that ended
// and to one that lives.
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
static const char *const names[] = {
    "fifteen bytes..",
    "in the 15: a \xc3\xbc", // the character ends with the 15th byte
    "cut in two: ab\xc3\xbc",
    "cut in three \xe7\xb7\x9a",
    "cut in four \xf0\x9f\xa7\xb5",
    "latin \xfc",
    "\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc\xbc",
};
static pthread_barrier_t named;
static void *ended(void *name) {
  prctl(PR_SET_NAME, name);
  free(malloc(64));
  return NULL;
}
static void *living(void *name) {
  ended(name);
  pthread_barrier_wait(&named);
  for (;;) pause();
}
int main(void) {
  pthread_barrier_init(&named, NULL, 2);
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, ended, (void *)names[i]);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, living, (void *)names[i]);
    pthread_barrier_wait(&named);
  }
  return 0;
}
