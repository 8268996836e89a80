// Sleeps twice in the named call for 600 ms while snapshots interrupt it all the time, and says whether each time came
// out: 0 for what the call returns, and how long it took: "early", "in time", or "late" when the snapshots had to end
// first, which they do after 20 s.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 600
#define STORM_S 20

static atomic_int over, late;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *storm(void *unused) {
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "ht_snapshot");
  double until_s = now_s() + STORM_S;
  while (!over && now_s() < until_s) snapshot(NULL);
  late = !over;
  return unused;
}

static __attribute__((noinline)) int sleep_in(const char *call) {
  struct epoll_event event;
  struct pollfd nothing = {-1, POLLIN, 0};
  struct timespec time = {0, TIMEOUT_MS * 1000000l};
  struct timeval short_time = {0, TIMEOUT_MS * 1000l};
  sigset_t signals;
  if (!strcmp(call, "poll")) return poll(&nothing, 1, TIMEOUT_MS);
  if (!strcmp(call, "ppoll")) return ppoll(&nothing, 1, &time, NULL);
  if (!strcmp(call, "select")) return select(0, NULL, NULL, NULL, &short_time);
  if (!strcmp(call, "pselect")) return pselect(0, NULL, NULL, NULL, &time, NULL);
  if (!strcmp(call, "epoll")) return epoll_wait(epoll_create1(0), &event, 1, TIMEOUT_MS);
  if (!strcmp(call, "usleep")) return usleep(TIMEOUT_MS * 1000);
  if (!strcmp(call, "nanosleep")) return nanosleep(&time, NULL);
  if (!strcmp(call, "sigtimedwait")) {
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    return sigtimedwait(&signals, NULL, &time) + 1; // -1: its time is over
  }
  int set = semget(IPC_PRIVATE, 1, 0600);
  int result = semtimedop(set, &(struct sembuf){0, -1, 0}, 1, &time);
  semctl(set, 0, IPC_RMID);
  return result + 1; // the same
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, NULL, storm, NULL);
  for (int i = 0; i < 2; i++) {
    double begin_s = now_s();
    int result = sleep_in(argv[argc - 1]);
    double seconds = now_s() - begin_s;
    printf("%d %s\n", result, late ? "late" : seconds < TIMEOUT_MS / 1e3 ? "early" : "in time");
  }
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
