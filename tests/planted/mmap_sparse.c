// A terabyte of which one page was touched: the scan reads that page, not the rest.
// expect none
#include "planted.h"
#include <sys/mman.h>

static char *space;
static void *also_held; // LeakSanitizer does not look into mappings

int main(void) {
  size_t bytes = (size_t)1 << 40;
  space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return 0;
  also_held = malloc(100);
  *(void **)(space + bytes / 2) = also_held;
  return 0;
}
