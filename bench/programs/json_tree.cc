// A tree of JSON values built in memory, 130 MB of it live at the end; then counted and dropped.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "random.h"

namespace {

constexpr int RECORDS = 105000;

struct Value {
  std::string text;
  double number = 0;
  std::vector<std::unique_ptr<Value>> items;
  std::map<std::string, std::unique_ptr<Value>> members;
};

std::unique_ptr<Value> number_make(double number) {
  auto value = std::make_unique<Value>();
  value->number = number;
  return value;
}

std::unique_ptr<Value> text_make(std::string text) {
  auto value = std::make_unique<Value>();
  value->text = std::move(text);
  return value;
}

std::unique_ptr<Value> record_make(int id, uint64_t *random) {
  auto record = std::make_unique<Value>();
  record->members["id"] = number_make(id);
  record->members["name"] = text_make("a name of some length " + std::to_string(random_next(random)));
  auto tags = std::make_unique<Value>();
  for (int tag = 0; tag < 3; tag++) tags->items.push_back(number_make(random_next(random) % 1000));
  record->members["tags"] = std::move(tags);
  return record;
}

size_t count(const Value &value) {
  size_t values = 1;
  for (auto &item : value.items) values += count(*item);
  for (auto &member : value.members) values += count(*member.second);
  return values;
}

} // namespace

int main() {
  uint64_t random = 88172645463325252u;
  Value document;
  for (int id = 0; id < RECORDS; id++) document.items.push_back(record_make(id, &random));
  std::printf("%zu values\n", count(document));
}
