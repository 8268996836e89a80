// Loses 10000 bytes: the short run whose report must not be mixed with an older, longer one (case 70).
#include <stdlib.h>
__attribute__((noinline)) static void lose(void) { *(volatile char *)malloc(10000) = 1; }
int main(void) {
  lose();
  free(malloc(10));
  return 0;
}
