// The child drops what it inherited and loses a block of its own: only its own is its leak.
// The parent loses one before the fork.
// expect direct 100 in 1 at @parent
// expect child direct 200 in 1 at @child
#include "planted.h"
#include <sys/wait.h>
#include <unistd.h>

static void *held;

static __attribute__((noinline)) void parent_lose(void) {
  malloc(100); // @parent
}

static __attribute__((noinline)) void child_lose(void) {
  malloc(200); // @child
}

int main(void) {
  held = malloc(1000);
  parent_lose();
  stack_scrub();
  pid_t child = fork();
  if (child == 0) {
    held = NULL;
    child_lose();
    stack_scrub();
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return status != 0;
}
