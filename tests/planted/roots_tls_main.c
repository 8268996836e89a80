// Held by the main thread's own variables.
// expect none
// expect live 300
#include "planted.h"

static void *somewhere;
static __thread void *zeroed;
static __thread void *set = &somewhere;

int main(void) {
  zeroed = malloc(100);
  set = malloc(200);
  stack_scrub();
  return 0;
}
