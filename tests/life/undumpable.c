// Not dumpable, as a process is that has changed its user. Ends when its input does.
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(void) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}
