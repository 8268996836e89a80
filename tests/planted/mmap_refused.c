// Calls that the kernel refuses change no record: the mapping is as live after them as before.
// expect none
// expect kind mmap live 1048576
// expect kind mmap peak 1048576
#define _GNU_SOURCE
#include "planted.h"
#include <errno.h>
#include <sys/mman.h>

enum { MIB = 1 << 20 };
static char *held;

static void refused_unmap(char *start, size_t bytes) {
  if (munmap(start, bytes) == 0 || errno != EINVAL) abort();
}

static void refused_move(size_t old_bytes, size_t bytes) {
  if (mremap(held, old_bytes, bytes, MREMAP_MAYMOVE) != MAP_FAILED) abort();
}

int main(void) {
  held = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  refused_unmap(held, 1ul << 46); // beyond the end of the address space
  refused_unmap(held, 1ul << 47);
  refused_unmap(held, -4096ul);
  refused_unmap(held, 0);
  refused_unmap(held + 1, MIB);
  refused_move(MIB, 1ul << 47);
  refused_move(0, MIB);
  refused_move(MIB, 0);
  if (mprotect(held + 1, MIB, PROT_NONE) == 0 || madvise(held, MIB, 12345) == 0) abort();
  return 0;
}
