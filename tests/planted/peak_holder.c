// Who holds the peak's memory: a table that a global keeps, one that only a stack keeps.
// expect none
// expect peak-row @table bytes 1000000 blocks 1
// expect held @table global g_cache
// expect held @entry table_make
// expect held @entry global g_cache
#include "planted.h"

void **g_cache;

static __attribute__((noinline)) void **table_make(void) {
  return calloc(1, 1000000); // @table
}

static __attribute__((noinline)) void *entry_make(void) {
  return malloc(50000); // @entry
}

int main(void) {
  g_cache = table_make();
  for (int i = 0; i < 10; i++) g_cache[i * 7] = entry_make();
  stack_scrub();
  return 0;
}
