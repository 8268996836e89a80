// Holds 8 MiB of a GPU's memory and 1 MiB of its own, says `ready`, and ends when its input does.
#include <stdio.h>
#include <stdlib.h>

#include "simulated.h"

int main(void) {
  void *device, *volatile own = malloc(1 << 20);
  CHECK(hipMalloc(&device, 8 << 20));
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) continue;
  CHECK(hipFree(device));
  free(own);
  return 0;
}
