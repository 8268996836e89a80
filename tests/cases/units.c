// Case 40: sizes that show whether a tool divides by 1000 or by 1024. All three are lost.
#include <stdlib.h>
__attribute__((noinline)) static void lose_million(void) { *(volatile char *)malloc(1000000) = 1; }
__attribute__((noinline)) static void lose_mebibyte(void) { *(volatile char *)malloc(1048576) = 1; }
__attribute__((noinline)) static void lose_odd(void) { *(volatile char *)malloc(1023) = 1; }
int main(void) {
  lose_million();
  lose_mebibyte();
  lose_odd();
  for (volatile int i = 0; i < 100; i++)
    free(malloc(10));
  return 0;
}
