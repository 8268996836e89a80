// One leak in a function that has the name of a known one in glibc, and one of the program's own.
#include <stdlib.h>
static void *volatile block;
__attribute__((noinline)) void __tzfile_read(void) { block = malloc(3000); }
static __attribute__((noinline)) void own_lose(void) { block = malloc(100); }
int main(void) {
  __tzfile_read();
  own_lose();
  block = NULL;
  return 0;
}
