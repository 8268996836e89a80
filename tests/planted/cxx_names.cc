// Names are demangled: a method of a template in a namespace, an operator, a lambda.
// expect direct 10 in 1 at @method
// expect direct 20 in 1 at @operator
// expect direct 30 in 1 at @lambda
// expect function @method shop::Cart<int>::add(int)
// expect function @operator shop::operator+(shop::Money, shop::Money)
#include "planted.h"

namespace shop {
template <class T> struct Cart {
  __attribute__((noinline)) void add(T) { malloc(10); } // @method
};
struct Money {
  int cents;
};
__attribute__((noinline)) Money operator+(Money one, Money other) {
  malloc(20); // @operator
  return {one.cents + other.cents};
}
} // namespace shop

static __attribute__((noinline)) void all_lose() {
  shop::Cart<int>().add(1);
  shop::Money{1} + shop::Money{2};
  auto lambda = [] { malloc(30); }; // @lambda
  lambda();
}

int main() {
  all_lose();
  stack_scrub();
  return 0;
}
