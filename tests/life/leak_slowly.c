// Leaks 1 MiB a second, in 40 blocks, until it is killed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leak(void) { memset(malloc(26214), 1, 26214); } // leaks

int main(void) {
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < 2000; i++) {
    leak();
    usleep(25000);
  }
  return 0;
}
