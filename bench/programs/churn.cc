// Maps, strings and vectors that come, grow and go: nothing but churn, each key made anew.
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "random.h"

namespace {

constexpr int ROUNDS = 1500000;
constexpr unsigned KEYS = 20000;

std::string key_of(unsigned number) { return "a key that is longer than a short string " + std::to_string(number); }

} // namespace

int main() {
  uint64_t random = 88172645463325252u;
  std::map<std::string, std::vector<int>> ordered;
  std::unordered_map<unsigned, std::string> hashed;
  for (int round = 0; round < ROUNDS; round++) {
    unsigned number = random_next(&random) % KEYS;
    switch (random_next(&random) % 4) {
    case 0:
      ordered[key_of(number)].push_back(round);
      break;
    case 1:
      ordered.erase(key_of(number));
      break;
    case 2:
      hashed[number] += key_of(number).substr(0, 24);
      break;
    default:
      hashed.erase(number);
      break;
    }
  }
  std::printf("%zu ordered, %zu hashed\n", ordered.size(), hashed.size());
}
