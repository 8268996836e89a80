// Case 55: what libc and libstdc++ keep once per process or thread is nobody's leak.
// build: -pthread -ldl
#include <clocale>
#include <cstdio>
#include <dlfcn.h>
#include <iostream>
#include <pwd.h>
#include <thread>
int main() {
  std::setlocale(LC_ALL, "C.UTF-8");
  std::cout << (getpwnam("root") != nullptr) << std::endl;
  for (int i = 0; i < 50; i++)
    std::thread([] {
      dlopen("nope", RTLD_NOW);
      if (!dlerror())
        std::puts("no error text");
    }).join();
  dlopen("nope", RTLD_NOW);
  std::cerr << (dlerror() != nullptr) << std::endl;
  return 0;
}
