// Every form of new, each lost at its own line. An array of objects with destructors is held by a pointer behind its
// count, and counts it.
// build: -std=c++17
// expect direct 4 in 1 at @plain
// expect direct 400 in 1 at @array
// expect direct 24 in 1 at @nothrow
// expect direct 240 in 1 at @nothrow_array
// expect direct 128 in 1 at @aligned
// expect direct 512 in 1 at @aligned_array
// expect direct 808 in 1 at @counted
// expect peak-row @held bytes 1600 blocks 1
#include "planted.h"
#include <new>

struct Three {
  long a, b, c;
};
struct alignas(128) Wide {
  char text[128];
};
struct Counted {
  ~Counted() {}
  long a;
};

static Counted *held;

static __attribute__((noinline)) void objects_lose() {
  new int;                      // @plain
  new int[100];                 // @array
  new (std::nothrow) Three;     // @nothrow
  new (std::nothrow) Three[10]; // @nothrow_array
  new Wide;                     // @aligned
  new Wide[4];                  // @aligned_array
  new Counted[100];             // @counted
}

int main() {
  objects_lose();
  held = new Counted[199]; // @held
  stack_scrub();
  return 0;
}
