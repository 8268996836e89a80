// Reaches its peak in one of several ways, holds it for a while and comes down again. Arguments: the way, and the
// microseconds before the peak and after it.
// build: -pthread
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 1000
static void *blocks[BLOCKS];
static int before_us, after_us;

static void blocks_free(int from) {
  for (int i = from; i < BLOCKS; i++) free(blocks[i]);
}

static void one_block(void) {
  usleep(before_us);
  void *block = malloc(1 << 20);
  usleep(after_us);
  free(block);
}

static void blocks_add(int from, int to) {
  for (int i = from; i < to; i++) blocks[i] = malloc(100);
}

static void small_blocks(void) {
  usleep(before_us);
  blocks_add(0, BLOCKS);
  usleep(after_us);
  blocks_free(0);
}

// Most of it at once, the rest in small steps.
static void steps(void) {
  blocks_add(0, BLOCKS - 20);
  for (int i = BLOCKS - 20; i < BLOCKS; i++) {
    usleep(before_us / 20);
    blocks[i] = malloc(10000);
  }
  usleep(after_us);
  blocks_free(0);
}

static void grown(void) {
  void *block = malloc(1000);
  usleep(before_us);
  block = realloc(block, 1 << 20);
  usleep(after_us);
  block = realloc(block, 10);
  free(block);
}

// A maximum that an earlier one comes near, and a later one too.
static void second_of_three(void) {
  blocks_add(0, BLOCKS / 2);
  blocks_free(BLOCKS / 4);
  memset(blocks + BLOCKS / 4, 0, sizeof blocks - BLOCKS / 4 * sizeof *blocks);
  usleep(before_us);
  blocks_add(BLOCKS / 4, BLOCKS / 2 + 1);
  usleep(after_us);
  for (int i = BLOCKS / 4; i < BLOCKS / 2 + 1; i++) free(blocks[i]);
  blocks_add(BLOCKS / 4, BLOCKS / 2);
  for (int i = 0; i < BLOCKS / 2; i++) free(blocks[i]);
}

static void *adder(void *unused) {
  (void)unused;
  usleep(before_us);
  blocks_add(0, BLOCKS);
  usleep(after_us);
  return NULL;
}

// One thread allocates, another frees.
static void other_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, adder, NULL);
  pthread_join(thread, NULL);
  blocks_free(0);
}

// Nobody frees.
static void to_the_end(void) {
  usleep(before_us);
  blocks_add(0, BLOCKS);
  usleep(after_us);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } ways[] = {{"one_block", one_block},
              {"small_blocks", small_blocks},
              {"steps", steps},
              {"grown", grown},
              {"second_of_three", second_of_three},
              {"other_thread", other_thread},
              {"to_the_end", to_the_end}};
  if (argc != 4) return 2;
  before_us = atoi(argv[2]), after_us = atoi(argv[3]);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (!strcmp(argv[1], ways[i].name)) return ways[i].run(), 0;
  return 2;
}
