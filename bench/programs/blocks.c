// 10 million live blocks of 48 bytes in lists that one global holds. Writes, by the monotonic clock, when it ends.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LISTS = 1000, BLOCKS_A_LIST = 10000, BYTES = 48 };

struct block {
  struct block *next;
  char rest[BYTES - sizeof(struct block *)];
};

static struct block *lists[LISTS];

int main(void) {
  for (int i = 0; i < LISTS; i++)
    for (int k = 0; k < BLOCKS_A_LIST; k++) {
      struct block *block = malloc(sizeof *block);
      block->next = lists[i];
      lists[i] = block;
    }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
  return 0;
}
