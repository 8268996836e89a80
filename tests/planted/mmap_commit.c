// A reservation counts only what mprotect commits, each commit at its line; PROT_NONE takes it back.
// expect none
// expect kind mmap live 3145728
// expect kind mmap peak 4194304
// expect live 3145728
// expect peak 4194304
// expect peak-row @first bytes 1048576
// expect peak-row @second bytes 3145728
#include "planted.h"
#include <sys/mman.h>

enum { MIB = 1 << 20 };
static char *reservation, *first, *second, *second_tail;

int main(void) {
  reservation = mmap(NULL, 64 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  first = reservation + 4 * MIB, second = reservation + 10 * MIB, second_tail = second + 2 * MIB;
  mprotect(first, 1 * MIB, PROT_READ | PROT_WRITE);  // @first
  mprotect(second, 3 * MIB, PROT_READ | PROT_WRITE); // @second
  *first = *second = 1;
  mprotect(second + MIB, 1 * MIB, PROT_NONE);
  return 0;
}
