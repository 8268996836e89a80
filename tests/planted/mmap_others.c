// Shared and file mappings are no blocks, and neither are failed calls.
// expect none
// expect kind mmap live 0
// expect kind mmap allocations 0
// expect live 0
#include "planted.h"
#include <fcntl.h>
#include <sys/mman.h>

int main(void) {
  int file = open("/proc/self/exe", O_RDONLY);
  if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) return 1;
  if (mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 2;
  if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 3;
  if (munmap((void *)1, 4096) == 0) return 4;
  return 0;
}
