// A private writable mapping of a memfd is a root (for LeakSanitizer it is none).
// expect none
// expect live 100
#define _GNU_SOURCE
#include "planted.h"
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
  int fd = memfd_create("roots", 0);
  if (fd < 0 || ftruncate(fd, 4096) < 0) return 1;
  void **mapping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) return 2;
  mapping[7] = malloc(100);
  stack_scrub();
  return 0;
}
