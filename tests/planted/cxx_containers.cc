// Containers lost with what they hold: the object is direct, its parts are indirect (a map's object too, since the
// root of its tree points back into it), and the site of each is the program's line, not the library's.
// expect direct 24 in 1 at @vector
// expect indirect 8000 in 1 at @vector
// expect direct 32 in 1 at @string
// expect indirect 101 in 1 at @string
// expect indirect 48 in 1 at @map
// expect indirect 4000 in 100 at @insert
#include "planted.h"
#include <map>
#include <string>
#include <vector>

static __attribute__((noinline)) void containers_lose() {
  new std::vector<double>(1000);                     // @vector
  new std::string(100, 'x');                         // @string
  auto *map = new std::map<int, int>;                // @map
  for (int i = 0; i < 100; i++) map->insert({i, i}); // @insert
}

int main() {
  containers_lose();
  stack_scrub();
  return 0;
}
