// The size histogram: powers of two, each row holding the sizes above the row before it.
// expect none
// expect allocations 12
// expect size 8 allocations 3 bytes 9
// expect size 16 allocations 2 bytes 25
// expect size 32 allocations 2 bytes 49
// expect size 1024 allocations 2 bytes 2047
// expect size 2048 allocations 1 bytes 1025
// expect size 1048576 allocations 1 bytes 1048576
// expect size 2097152 allocations 1 bytes 1048577
#include "planted.h"

int main(void) {
  static const size_t sizes[] = {0, 1, 8, 9, 16, 17, 32, 1023, 1024, 1025, 1 << 20, (1 << 20) + 1};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) free(malloc(sizes[i]));
  return 0;
}
