// Held by initialized and zeroed globals, by a static inside a function, and through a chain of blocks.
// expect none
// expect live 1640
#include "planted.h"

void *in_bss;
void *in_data = &in_data;
static void **chain;

static __attribute__((noinline)) void in_function(void) {
  static void *inside = &in_data;
  inside = malloc(300);
}

int main(void) {
  in_bss = malloc(100);
  in_data = malloc(200);
  in_function();
  chain = calloc(1, 16);
  chain[1] = calloc(1, 24);
  ((void **)chain[1])[2] = malloc(1000);
  stack_scrub();
  return 0;
}
