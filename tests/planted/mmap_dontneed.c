// After MADV_DONTNEED only resident pages count: 8 MiB were given back, 1 MiB was touched again.
// expect none
// expect kind mmap live 1048576
// expect kind mmap peak 8388608
#define _GNU_SOURCE
#include "planted.h"
#include <string.h>
#include <sys/mman.h>

enum { MIB = 1 << 20 };
static char *mapping;

int main(void) {
  mapping = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(mapping, 8 * MIB, MADV_NOHUGEPAGE);
  memset(mapping, 1, 8 * MIB);
  madvise(mapping, 8 * MIB, MADV_DONTNEED);
  memset(mapping + 2 * MIB, 1, MIB);
  return 0;
}
