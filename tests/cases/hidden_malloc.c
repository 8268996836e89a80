// Case 2: an allocator bound inside a library under names of its own. The library is own_malloc.c with its functions
// renamed; 100,000 blocks of it are used.
#include <stddef.h>
#include <stdio.h>
void *my_malloc(size_t bytes);
void my_free(void *block);
int main(void) {
  for (int i = 0; i < 100000; i++) {
    volatile char *block = my_malloc(100);
    block[0] = 1;
    my_free((void *)block);
  }
  puts("done");
  return 0;
}
