// 40 frames deep fits: nothing is cut, and main is at the end.
// expect direct 128 in 1 at @lost
// expect whole @lost
#include "planted.h"

static __attribute__((noinline)) int dive(int depth) {
  if (depth == 0) {
    malloc(128); // @lost
    return 0;
  }
  return dive(depth - 1) + 1;
}

int main(void) {
  int depth = dive(40);
  stack_scrub();
  return depth != 40;
}
