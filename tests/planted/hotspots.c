// Many small blocks at one line, few large ones at another.
// expect none
// expect hotspot @many allocations 5000 bytes 50000
// expect hotspot @large allocations 10 bytes 10485760
// expect allocations 5010
// expect frees 5010
// expect temporaries 5010
#include "planted.h"

int main(void) {
  for (int i = 0; i < 5000; i++) free(malloc(10));    // @many
  for (int i = 0; i < 10; i++) free(malloc(1 << 20)); // @large
  return 0;
}
