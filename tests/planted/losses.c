// Loses memory at one place, then at another; a third place holds and frees as much as both and loses a little at the
// start. Marks stand where a round begins (test_page_range.py).
#include "planted.h"
#include <heaptide.h>
#include <time.h>

enum { KIB = 1024, ROUND_MS = 80, ROUNDS = 4, EARLY_BYTES = 300 * KIB, LATE_BYTES = 500 * KIB };

static void rest(void) {
  struct timespec pause = {0, ROUND_MS * 1000000L};
  nanosleep(&pause, NULL);
}

static __attribute__((noinline)) void early_lose(void) {
  *(volatile char *)malloc(EARLY_BYTES) = 1; // @early
}

static __attribute__((noinline)) void late_lose(void) {
  *(volatile char *)malloc(LATE_BYTES) = 1; // @late
}

static __attribute__((noinline)) void *borrow(size_t bytes) {
  return malloc(bytes); // @borrow
}

int main(void) {
  heaptide_mark("start");
  *(volatile char *)borrow(400 * KIB) = 1;
  rest();
  for (int round = 0; round < 2 * ROUNDS; round++) {
    heaptide_mark(round < ROUNDS ? "early" : "late");
    volatile char *borrowed = borrow(2048 * KIB);
    *borrowed = 1;
    if (round < ROUNDS)
      early_lose();
    else
      late_lose();
    rest();
    free((void *)borrowed);
  }
  heaptide_mark("end");
  rest();
  stack_scrub();
  return 0;
}
