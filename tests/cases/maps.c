// gcc -g -O0 maps.c -o maps      (lost: one mapping of 1 MiB; everything else is unmapped)
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MB (1ul << 20)
#define AN (MAP_PRIVATE | MAP_ANONYMOUS)
int main(void) {
  char *r = mmap(0, 64 * MB, PROT_NONE, AN | MAP_NORESERVE, -1, 0);       // a reservation
  mmap(r + 8 * MB, 16 * MB, 3, AN | MAP_FIXED, -1, 0);                    // part of it, replaced
  mprotect(r + 32 * MB, 4 * MB, 3); r[32 * MB] = 1;                       // part of it, committed
  madvise(r + 8 * MB, 8 * MB, MADV_DONTNEED);
  munmap(r, 64 * MB);                                                     // all gone at once
  char *a = mmap(0, 4 * MB, 3, AN, -1, 0); munmap(a + MB, 2 * MB);        // a hole: 1 + 1 MiB left
  munmap(a, 4 * MB);                                                      // over the hole: fine
  char *b = mmap(0, MB, 3, AN, -1, 0); b = mremap(b, MB, 8 * MB, MREMAP_MAYMOVE);
  char *t = mmap(0, 8 * MB, PROT_NONE, AN, -1, 0);
  b = mremap(b, 8 * MB, 8 * MB, MREMAP_MAYMOVE | MREMAP_FIXED, t);        // swallows t
  munmap(b, 8 * MB);
  char *c = (char *)syscall(SYS_mmap, 0, MB, 3, AN, -1, 0); munmap(c, MB); // unseen birth
  if (munmap((void *)1, MB) == 0 || mmap(0, 0, 3, AN, -1, 0) != MAP_FAILED) return 1;  // failures
  char *l = mmap64(0, MB, 3, AN, -1, 0); l[0] = 1; l = 0;                 // the lost one
  return 0;
}
