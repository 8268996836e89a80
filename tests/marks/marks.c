// Marks between known allocations. The program says with its first word which part it plays.
#include <heaptide.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 5, STEP_BYTES = 4096, FIRST_BYTES = 1000 };
static void *keep[1000];

static void take(int count, size_t bytes) {
  static int used;
  for (int i = 0; i < count; i++) keep[used++] = malloc(bytes);
}

static void give_and_take(int count) {
  for (int i = 0; i < count; i++) free(malloc(64));
}

static void iterations(void) {
  heaptide_mark("start");
  take(1, FIRST_BYTES);
  for (int i = 0; i < STEPS; i++) {
    heaptide_mark("step");
    take(1, STEP_BYTES);
    give_and_take(1);
  }
  heaptide_mark("end");
}

// Between the marks of a pair nothing is called for longer than a period of samples.
static void calls(void) {
  take(100, 10);
  heaptide_mark("quiet");
  usleep(250000);
  heaptide_mark("quiet ends");
  take(200, 10);
  give_and_take(300);
  heaptide_mark("quiet");
  usleep(250000);
  heaptide_mark("quiet ends");
  give_and_take(50);
}

static void forked(void) {
  take(1, FIRST_BYTES);
  heaptide_mark("parent");
  if (fork() == 0) {
    take(1, STEP_BYTES);
    heaptide_mark("child");
    exit(0);
  }
  wait(NULL);
  heaptide_mark("parent");
}

// Dies of a signal that no handler sees, some time after its marks.
static void killed(void) {
  iterations();
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    give_and_take(100);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < 2);
  raise(SIGKILL);
}

static void snapshots(void) {
  iterations();
  int error = heaptide_snapshot("middle");
  heaptide_mark("after");
  dprintf(1, "%d %d\n", error, heaptide_snapshot("a/b"));
}

static void many(void) {
  char name[32];
  for (int i = 0; i < 20000; i++) heaptide_mark("often");
  for (int i = 0; i < 1100; i++) {
    snprintf(name, sizeof name, "name %d", i);
    heaptide_mark(name);
  }
}

static void names(void) {
  char longest[300];
  memset(longest, 'x', sizeof longest);
  longest[299] = 0;
  heaptide_mark("");
  heaptide_mark("\xff \"quoted\" \x1b[31m <b>");
  heaptide_mark(longest);
  longest[200] = 0;
  heaptide_mark(longest);
  heaptide_mark(NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*play)(void);
  } parts[] = {{"iterations", iterations}, {"calls", calls}, {"forked", forked}, {"killed", killed},
               {"snapshots", snapshots},   {"many", many},   {"names", names}};
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
    if (strcmp(argv[1], parts[i].name) == 0) parts[i].play();
  return 0;
}
