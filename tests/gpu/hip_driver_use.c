// What hipMemGetInfo says has gone is what is live, to within the granularity that the runtime takes memory in.
// Prints how much that is.
// build: -lamdhip64
#include "hip.h"

int main(void) {
  size_t before, after, total;
  void *block;
  CHECK(hipMemGetInfo(&before, &total));
  for (int i = 0; i < 16; i++) CHECK(hipMalloc(&block, 7 << 20));
  for (int i = 0; i < 100; i++) CHECK(hipMalloc(&block, 5000));
  CHECK(hipMemGetInfo(&after, &total));
  printf("%zu\n", before - after);
  return 0;
}
