// A mapping laid over part of another replaces that part.
// expect none
// expect kind mmap live 4194304
#define _GNU_SOURCE
#include "planted.h"
#include <sys/mman.h>

enum { MIB = 1 << 20, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
static char *front, *over, *back;

int main(void) {
  front = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
  over = mmap(front + MIB, MIB, PROT_READ | PROT_WRITE, FLAGS | MAP_FIXED, -1, 0);
  back = front + 3 * MIB;
  return over != front + MIB;
}
