// Exceptions thrown through frames that own memory, and out of a constructor: everything is given back.
// expect none
// expect hotspot @vector allocations 1000 bytes 400000
#include "planted.h"
#include <stdexcept>
#include <vector>

struct Throws {
  Throws() { throw std::runtime_error("constructor"); }
  char text[100];
};

static __attribute__((noinline)) void level(int depth) {
  std::vector<int> owned(100); // @vector
  if (depth == 0) throw std::runtime_error("bottom");
  level(depth - 1);
}

int main() {
  int caught = 0;
  for (int i = 0; i < 100; i++) {
    try {
      level(9);
    } catch (std::exception &) {
      caught++;
    }
    try {
      new Throws;
    } catch (std::exception &) {
      caught++;
    }
  }
  stack_scrub();
  return caught != 200;
}
