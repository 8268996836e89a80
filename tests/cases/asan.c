// Built with AddressSanitizer: the shadow of 16 TB must not be walked, and LeakSanitizer ends the process by a bare
// system call. Direct 1000.
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void lose(void) {
  for (int i = 0; i < 10; i++) memset(malloc(100), 1, 100); // @lost
}

__attribute__((noinline)) static void overwrite(int depth) {
  volatile char room[4096];
  for (size_t i = 0; i < sizeof room; i++) room[i] = 0;
  if (depth > 0) overwrite(depth - 1);
}

int main(void) {
  lose();
  overwrite(3);
  void *freed = malloc(10);
  free(freed);
  return 0;
}
