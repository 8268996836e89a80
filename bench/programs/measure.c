// measure RESULT CMD [ARG...]: runs CMD and writes what it and its descendants used, as
// `status cpu_us peak_rss_bytes`, to the file RESULT.
//
// A program of its own, since a process that a big interpreter forks inherits that one's peak RSS.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long microseconds(struct timeval time) { return time.tv_sec * 1000000L + time.tv_usec; }

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child) return 1;
  FILE *result = fopen(argv[1], "w");
  if (!result) return 1;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  fprintf(result, "%d %ld %ld\n", code, microseconds(used.ru_utime) + microseconds(used.ru_stime),
          used.ru_maxrss * 1024);
  return fclose(result) == 0 ? 0 : 1;
}
