// Case 71: argv[1] rounds of 1000 allocations each, argv[2] blocks live at the end, all from two lines.
#include <stdlib.h>
static void **keep;
int main(int count, char **words) {
  long rounds = count > 1 ? atol(words[1]) : 1, live = count > 2 ? atol(words[2]) : 0;
  keep = malloc(sizeof *keep * (size_t)(live + 1));
  for (long i = 0; i < live; i++)
    keep[i] = malloc(16);
  for (long round = 0; round < rounds; round++) {
    void *blocks[1000];
    for (int i = 0; i < 1000; i++)
      blocks[i] = malloc((size_t)(i % 100));
    for (int i = 0; i < 1000; i++)
      free(blocks[i]);
  }
  return 0;
}
