// Loses 1234 bytes, then sleeps in the named call until a line comes or its time is over, and says how that went.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(1234); // 1234 lost
  lost[0] = 1;
}

static int sleep_in(const char *call) {
  struct epoll_event event = {.events = EPOLLIN};
  struct pollfd input = {0, POLLIN, 0};
  struct timespec time = {2, 0};
  char line[16];
  fd_set inputs;
  if (!strcmp(call, "nanosleep")) return nanosleep(&time, &time);
  if (!strcmp(call, "sleep")) return (int)sleep(2);
  if (!strcmp(call, "poll")) return poll(&input, 1, 20000);
  if (!strcmp(call, "read")) return read(0, line, sizeof line) > 0;
  if (!strcmp(call, "select")) {
    FD_ZERO(&inputs);
    FD_SET(0, &inputs);
    return select(1, &inputs, NULL, NULL, NULL);
  }
  int set = epoll_create1(0);
  epoll_ctl(set, EPOLL_CTL_ADD, 0, &event);
  return epoll_wait(set, &event, 1, 20000);
}

int main(int argc, char **argv) {
  lose();
  puts("ready");
  fflush(stdout);
  errno = 0;
  int result = sleep_in(argc > 1 ? argv[1] : "epoll");
  printf("%d %d\n", result, errno);
  return 0;
}
