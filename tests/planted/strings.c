// libc's own callers of malloc: the site is the program's line.
// expect direct 12 in 1 at @strdup
// expect direct 6 in 1 at @strndup
// expect direct 101 in 1 at @asprintf
#define _GNU_SOURCE
#include "planted.h"
#include <stdio.h>
#include <string.h>

static __attribute__((noinline)) void strings_lose(void) {
  char *text;
  text = strdup("hello world");      // @strdup
  text = strndup("hello world", 5);  // @strndup
  asprintf(&text, "%100s", "right"); // @asprintf
  text = NULL;
}

int main(void) {
  strings_lose();
  stack_scrub();
  return 0;
}
