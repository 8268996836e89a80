// Children that leave by _exit while their parent sends them SIGTERM, a little later each time. argv[1]: how many.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 500l
#define STEPS 100

int main(int argc, char **argv) {
  int children = argc > 1 ? atoi(argv[1]) : 100, lines[2];
  for (int i = 0; i < children; i++) {
    char byte = 0;
    if (pipe(lines) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
      char *volatile block = malloc(5000);
      block[0] = 1;
      if (write(lines[1], &byte, 1) != 1) return 1;
      _exit(0);
    }
    if (read(lines[0], &byte, 1) != 1) return 1;
    struct timespec pause = {0, STEP_NS * (i % STEPS)};
    nanosleep(&pause, NULL);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    close(lines[0]);
    close(lines[1]);
  }
  return 0;
}
