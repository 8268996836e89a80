// Few sites with device memory beside many of the host's, whose walk is more than the sampler's share of the time: the
// device's own are followed nevertheless, small ones and those of another thread too.
// build: -pthread
// simulated: 6
// expect direct 1000 in 1 at @small kind device
// expect direct 1048576 in 1 at @large kind device
// expect direct 1310720 in 40 at @streamed kind device
#include <pthread.h>

#include "simulated.h"

enum { STEPS = 40, LEVELS = 12 };

static void *kept[1 << LEVELS];
static int kept_count;
static volatile int finished;

// Two calls in each of the levels: as many stacks as there are ways down.
static NOINLINE void host(int level) {
  if (level == LEVELS) {
    kept[kept_count++] = malloc(16);
    return;
  }
  host(level + 1);
  __asm__ volatile("");
  host(level + 1);
  __asm__ volatile("");
}

static NOINLINE void *small(void) {
  void *block;
  CHECK(hipMalloc(&block, 1000)); // @small
  return block;
}

static NOINLINE void *large(void) {
  void *block;
  CHECK(hipMalloc(&block, 1 << 20)); // @large
  return block;
}

static NOINLINE void streamed(void *stream) {
  void *block;
  CHECK(hipMallocAsync(&block, 32 << 10, stream)); // @streamed
}

static void *work(void *unused) {
  void *block;
  while (!finished) {
    CHECK(hipMalloc(&block, 300 << 10)); // @worker
    usleep(700);
    CHECK(hipFree(block));
  }
  return unused;
}

int main(void) {
  pthread_t worker;
  void *stream;
  host(0);
  CHECK(hipStreamCreate(&stream));
  CHECK(pthread_create(&worker, NULL, work, NULL));
  small();
  for (int i = 0; i < STEPS; i++) {
    void *block = large();
    usleep(6000);
    streamed(stream);
    if (i < STEPS - 1) CHECK(hipFree(block));
    usleep(6000);
  }
  finished = 1;
  return pthread_join(worker, NULL);
}
