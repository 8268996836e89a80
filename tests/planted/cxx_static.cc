// Objects built before main and destroyed after it, one inside a function, one per thread.
// build: -pthread
// expect none
#include "planted.h"
#include <string>
#include <thread>
#include <vector>

static std::vector<std::string> words(100, std::string(50, 'w'));

static std::string &per_thread() {
  static thread_local std::string text(200, 't');
  return text;
}

static std::vector<int> &inside() {
  static std::vector<int> numbers(1000);
  return numbers;
}

int main() {
  inside()[0] = 1;
  per_thread()[0] = 'u';
  std::thread([] { per_thread()[0] = 'v'; }).join();
  return words.size() != 100;
}
