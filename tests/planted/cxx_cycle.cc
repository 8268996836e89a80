// Two objects that own each other through shared pointers: the classic leak, all of it indirect.
// expect indirect 96 in 2 at @make
#include "planted.h"
#include <memory>

struct Person {
  std::shared_ptr<Person> partner;
  char name[16];
};

static __attribute__((noinline)) std::shared_ptr<Person> person_make() {
  return std::make_shared<Person>(); // @make
}

static __attribute__((noinline)) void pair_lose() {
  auto one = person_make(), other = person_make();
  one->partner = other;
  other->partner = one;
}

int main() {
  pair_lose();
  stack_scrub();
  return 0;
}
