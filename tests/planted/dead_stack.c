// Copies of a pointer fill the stack of a function that has returned: below the stack pointer they hold nothing.
// expect direct 222 in 1 at @lost
#include "planted.h"

static __attribute__((noinline)) void copies_leave(void) {
  void *volatile copies[4096];
  copies[0] = malloc(222); // @lost
  for (int i = 1; i < 4096; i++) copies[i] = copies[0];
}

int main(void) {
  copies_leave();
  return 0;
}
