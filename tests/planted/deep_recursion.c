// 200 frames deep: the stack keeps 64 and says that it was cut.
// expect direct 128 in 1 at @lost
// expect truncated @lost
#include "planted.h"

static __attribute__((noinline)) int dive(int depth) {
  if (depth == 0) {
    malloc(128); // @lost
    return 0;
  }
  return dive(depth - 1) + 1;
}

int main(void) {
  int depth = dive(200);
  stack_scrub();
  return depth != 200;
}
