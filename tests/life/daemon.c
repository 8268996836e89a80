// A daemon whose parent, CMD, ends once it is at work; a second later it ends too. 100 bytes are lost.
#include <stdlib.h>
#include <unistd.h>

static volatile char *lost;

int main(void) {
  int ready[2];
  char byte;
  if (pipe(ready)) return 2;
  if (fork() != 0) { // until it has been at work for a while
    close(ready[1]);
    return read(ready[0], &byte, 1) != 1;
  }
  setsid();
  close(ready[0]);
  lost = malloc(100);
  lost = NULL;
  for (int round = 0; round < 30; round++) {
    free(malloc(1 << 20));
    usleep(50000);
    if (round == 10 && write(ready[1], "r", 1) != 1) return 3;
  }
  return 0;
}
