// What `heaptide attach` comes to: memory, a stream and a device (its argument) from before, and more of each on
// command: one word on stdin, which is the answer too.
//
// simulated: 6
#include <dlfcn.h>
#include <pthread.h>

#include "simulated.h"

static void *before, *stream, *held, *streamed;
static volatile int stop; // at the end

static NOINLINE void hold(void) {
  CHECK(hipMalloc(&held, 2 << 20)); // @held
}

static NOINLINE void flow(void) {
  CHECK(hipMallocAsync(&streamed, 1 << 20, stream)); // @streamed
}

static NOINLINE void drop(void) {
  CHECK(hipFree(before));
  CHECK(hipFreeAsync(streamed, stream));
}

static NOINLINE void call_by_name(void) {
  int (*by_name)(void **, size_t) = (int (*)(void **, size_t))dlsym(RTLD_DEFAULT, "hipMalloc");
  void *block;
  CHECK(by_name(&block, 512 << 10)); // @named
}

static void *churn(void *unused) {
  void *block;
  while (!stop) {
    CHECK(hipMallocAsync(&block, 4096, stream));
    CHECK(hipFreeAsync(block, stream));
    CHECK(hipMalloc(&block, 65536));
    CHECK(hipFree(block));
  }
  return unused;
}

int main(int argc, char **argv) {
  char word[16];
  pthread_t threads[8];
  int count = 0;
  CHECK(argc == 2 ? hipSetDevice(atoi(argv[1])) : 1);
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMalloc(&before, 3 << 20));
  puts("ready");
  fflush(stdout);
  while (scanf("%15s", word) == 1) {
    if (!strcmp(word, "hold")) hold();
    if (!strcmp(word, "flow")) flow();
    if (!strcmp(word, "drop")) drop();
    if (!strcmp(word, "name")) call_by_name();
    if (!strcmp(word, "busy")) CHECK(pthread_create(&threads[count++], NULL, churn, NULL));
    puts(word);
    fflush(stdout);
  }
  stop = 1;
  while (count) pthread_join(threads[--count], NULL);
  return 0;
}
