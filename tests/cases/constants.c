// At a fixed low address, with numbers in its data that look like pointers into the heap behind it: one for every
// 64 KiB. They are as the file has them, so they hold nothing.
#include <stdlib.h>
__asm__(".data\n .balign 4096\n table:\n .set number, 0x400000\n .rept 20480\n .quad number\n"
        " .set number, number + 0x10000\n .endr\n .text\n");
extern volatile unsigned long table[20480];
static void *volatile block;
int main(void) {
  for (int page = 0; page < 40; page++) table[page * 512] = 1; // each page has been written to
  block = malloc(100000);
  ((volatile char *)block)[0] = 1;
  block = NULL;
  return 0;
}
