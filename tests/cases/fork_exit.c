// gcc -g fork_exit.c -o fork_exit      (parent loses 1000, each child loses 2000)
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void lose(size_t n) { volatile char *p = malloc(n); p[0] = 1; }
int main(void) {
  lose(1000);
  for (int i = 0; i < 3; i++) if (!fork()) { lose(2000); exit(0); }   // exit, not _exit
  while (wait(0) > 0) {}
  if (!fork()) { lose(2000); execl("/bin/true", "true", (char *)0); }  // exec right after
  while (wait(0) > 0) {}
  return 0;
}
