// Unmapping the middle of a mapping leaves two pieces; unmapping the whole span again takes both.
// expect none
// expect kind mmap live 524288
// expect kind mmap peak 4194304
#include "planted.h"
#include <sys/mman.h>

enum { MIB = 1 << 20 };
static char *front, *back;

static char *map(size_t bytes) { return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

int main(void) {
  char *gone = map(4 * MIB);
  munmap(gone + MIB, 2 * MIB);
  munmap(gone, 4 * MIB);
  front = map(MIB);
  back = front + 3 * MIB / 4;
  munmap(front + MIB / 4, MIB / 2);
  return 0;
}
