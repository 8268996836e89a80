// Every form of delete gives its block back.
// build: -std=c++17 -fsized-deallocation
// expect none
// expect frees 11
#include "planted.h"
#include <new>

struct alignas(128) Wide {
  char text[128];
};
struct Counted {
  ~Counted() {}
  long a;
};

int main() {
  delete new int;
  delete[] new int[100];
  delete[] new Counted[100];
  delete new Wide;
  delete[] new Wide[4];
  operator delete(operator new(100, std::nothrow), std::nothrow);
  operator delete[](operator new[](100, std::nothrow), std::nothrow);
  operator delete(operator new(100), std::size_t(100));
  operator delete[](operator new[](100), std::size_t(100));
  operator delete(operator new(256, std::align_val_t(256)), std::size_t(256), std::align_val_t(256));
  operator delete(operator new(256, std::align_val_t(256), std::nothrow), std::align_val_t(256), std::nothrow);
  return 0;
}
