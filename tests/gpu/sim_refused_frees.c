// A free that is refused is no call that ends a temporary: the block is still what its thread allocated last.
// simulated: 6
// expect none
// expect kind device allocations 2
// expect kind pinned allocations 1
// expect kind device live 0
// expect temporaries 3
// expect temporary @block 1
// expect temporary @array 1
// expect temporary @pinned 1
#include "simulated.h"

struct format {
  int bits[4], kind;
};
int hipMallocArray(void **, const struct format *, size_t, size_t, unsigned);
int hipFreeArray(void *);

int main(void) {
  struct format bytes = {{8, 0, 0, 0}, 0};
  void *made;
  CHECK(hipMalloc(&made, 4096)); // @block
  REFUSE(hipFree(made));         // on demand
  REFUSE(hipFree((char *)made + 1));
  CHECK(hipFree(made));
  CHECK(hipMallocArray(&made, &bytes, 64, 64, 0)); // @array
  REFUSE(hipFreeArray(made));
  CHECK(hipFreeArray(made));
  CHECK(hipHostMalloc(&made, 4096, 0)); // @pinned
  REFUSE(hipHostFree(made));
  CHECK(hipHostFree(made));
  return 0;
}
