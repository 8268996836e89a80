// Fills memory, a MiB at a time, until it is killed, or holds 400 MiB and goes on without.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill(void) { memset(malloc(1 << 20), 1, 1 << 20); } // fills

int main(void) {
  for (int i = 0; i < 400; i++) {
    fill();
    usleep(10000);
  }
  return 0;
}
