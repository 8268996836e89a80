// 2 million malloc and free in a loop that is 33 frames deep: the stack never changes, only its reading can cost.
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 32, ROUNDS = 2000000, BYTES = 64 };

static volatile int unwinding; // written after the call below, so that it is no tail call

__attribute__((noinline)) static void descend(int frames_left) {
  if (frames_left > 1)
    descend(frames_left - 1);
  else
    for (int round = 0; round < ROUNDS; round++) {
      void *block = malloc(BYTES);
      __asm__ volatile("" : : "r"(block) : "memory"); // the compiler may not leave out the pair
      free(block);
    }
  unwinding = frames_left;
}

int main(void) {
  descend(FRAMES);
  puts("done");
  return 0;
}
