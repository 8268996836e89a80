// Held by libc itself: an environment string, an open stream, an exit handler's argument.
// expect none
#include "planted.h"
#include <stdio.h>
#include <string.h>

int main(void) {
  char *text = malloc(64);
  strcpy(text, "HEAPTIDE_PLANTED=1");
  putenv(text);
  text = NULL;
  setenv("HEAPTIDE_PLANTED_TOO", "2", 1);
  fopen("/dev/null", "r");
  stack_scrub();
  return 0;
}
