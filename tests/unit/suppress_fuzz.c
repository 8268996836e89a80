// sources: cli/suppress.c cli/pattern.c cli/memory.c cli/problem.c
// libFuzzer on suppression files and on matching (tests/unit/fuzz): no file and no name makes it crash or hang.
#include "../../cli/memory.h"
#include "../../cli/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

volatile int sink; // so that nothing is left out

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[40];
  struct suppressions suppressions = {0};
  struct problem problem;
  int fd = memfd_create("fuzz", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) __builtin_trap(); // that would test nothing
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (suppressions_read(&suppressions, path, &problem)) {
    char *name = memory_format("%.*s", (int)(size < 2000 ? size : 2000), (const char *)data);
    sink += suppressions_match(&suppressions, name, "source.c", "libm.so.6");
    sink += suppressions_match(&suppressions, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", name, NULL);
    free(name);
  }
  suppressions_free(&suppressions);
  close(fd);
  return 0;
}
