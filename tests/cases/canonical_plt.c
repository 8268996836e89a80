// gcc -g -no-pie -fno-pie canonical_plt.c
// A program at a fixed address takes malloc's: the dynamic linker then has everybody use the entry in the program's
// PLT as that address, though the program brings no malloc.
#include <stdlib.h>
int main(void) {
  void *(*volatile allocate)(size_t) = malloc;
  volatile char *block = allocate(100);
  block[0] = 1;
  return 0;
}
