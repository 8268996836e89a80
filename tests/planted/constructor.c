// Allocated before main and freed after it.
// expect none
#include "planted.h"

static void *early;

static __attribute__((constructor)) void early_make(void) { early = malloc(100); }

static __attribute__((destructor)) void late_drop(void) {
  free(early);
  free(malloc(50));
}

int main(void) { return early == NULL; }
