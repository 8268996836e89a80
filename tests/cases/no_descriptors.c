// Ends with every descriptor in use that it may ever have: 3 by its limit, or 64 opened and never closed.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>

static void lose(void) {
  volatile char *block = malloc(1234);
  block[0] = 1;
}

int main(int argc, char **argv) {
  int most = argc > 1 ? atoi(argv[1]) : 3;
  struct rlimit limit = {(rlim_t)most, (rlim_t)most};
  lose();
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  while (open("/dev/null", O_RDONLY) >= 0) continue;
  return 5;
}
