// Containers in globals, statics and shared pointers are no leaks.
// expect none
#include "planted.h"
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

static std::unordered_map<std::string, std::list<int>> *table;
static std::shared_ptr<std::deque<long>> shared;

static std::string &text() {
  static auto *kept = new std::string(1000, 'y');
  return *kept;
}

int main() {
  table = new std::unordered_map<std::string, std::list<int>>;
  for (int i = 0; i < 100; i++) (*table)[std::to_string(i) + std::string(30, 'k')].assign(10, i);
  shared = std::make_shared<std::deque<long>>(5000);
  text() += "more";
  stack_scrub();
  return 0;
}
