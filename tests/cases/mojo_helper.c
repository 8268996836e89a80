// A process that looks like Mojo's runtime (it has the library of that name loaded) and starts what that starts: the
// health check of a GPU, by system(), whose shell is given `--` from glibc 2.38 on (with a second argument: is so here).
// Beside it a child of its own.
// build: -ldl
// build-library: libAsyncRTRuntimeGlobals.so -DLIBRARY
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY
int runtime_is_here;
#else

static void *volatile lost;

#define CHECK "amd-smi metric --gpu 0 --throttle --json"

static int check_as_later(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "--", CHECK, (char *)NULL);
    _exit(9);
  }
  return waitpid(child, &status, 0) == child ? status : 9;
}

int main(int argc, char **argv) {
  if (!dlopen(argv[1], RTLD_NOW)) return puts(dlerror()), 1;
  lost = malloc(1000);
  lost = NULL;
  if (argc > 2 ? check_as_later() : system(CHECK)) return 2;
  pid_t child = fork();
  if (child == 0) {
    lost = malloc(500);
    lost = NULL;
    return 0;
  }
  int status;
  waitpid(child, &status, 0);
  return status;
}

#endif
