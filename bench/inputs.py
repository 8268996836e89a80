"""Inputs for real programs, generated the same in every run."""

import json

C_FUNCTIONS = 300
CXX_TYPES = 12
JSON_BYTES = 17_000_000
SQL_ROWS = 400_000


def write_once(path, make_text):
    """Writes what `make_text` returns to `path`, unless a run before did."""
    if not path.exists():
        path.write_text(make_text())
    return path


def c_file(folder):
    """A large C file: functions with loops, branches, tables and calls of each other."""

    def text():
        parts = ["struct item { int key; double weight; struct item *next; };"]
        for i in range(C_FUNCTIONS):
            parts.append(f"""
static const int table_{i}[8] = {{{", ".join(str((i * 7 + k * 13) % 101) for k in range(8))}}};
int work_{i}(struct item *list, int limit) {{
  int sum = {i};
  for (struct item *item = list; item; item = item->next) {{
    switch (item->key % 5) {{
    case 0: sum += table_{i}[item->key & 7]; break;
    case 1: sum -= (int)(item->weight * {i % 9 + 1}); break;
    case 2: for (int k = 0; k < limit; k++) sum ^= table_{i}[k & 7] << (k & 3); break;
    default: sum += {f"work_{i - 1}(item->next, limit - 1)" if i and i % 3 == 0 else "item->key * limit"};
    }}
    if (sum > {1000 + i} && limit > 2) return sum - table_{i}[sum & 7];
  }}
  return sum;
}}""")
        return "\n".join(parts) + "\n"

    return write_once(folder / "large.c", text)


def cxx_file(folder):
    """A C++ file that is small beside the headers it includes."""

    def text():
        headers = "algorithm functional iostream map memory random regex set sstream string unordered_map vector"
        parts = [f"#include <{header}>" for header in headers.split()]
        for i in range(CXX_TYPES):
            parts.append(f"""
struct type_{i} {{
  std::map<std::string, std::vector<int>> rows;
  std::unordered_map<int, std::shared_ptr<type_{max(i - 1, 0)}>> links;
  std::function<int(int)> rule = [this](int x) {{ return x + (int)rows.size(); }};
  bool matches(const std::string &text) {{ return std::regex_match(text, std::regex("a+b{{{i + 1}}}")); }}
  int total() {{
    int sum = 0;
    for (auto &[name, values] : rows) {{
      std::sort(values.begin(), values.end(), [](int a, int b) {{ return a > b; }});
      for (int value : values) sum += rule(value) + (int)name.size();
    }}
    return sum;
  }}
}};""")
        calls = " + ".join(f"type_{i}().total()" for i in range(CXX_TYPES))
        matches = " + ".join(f'type_{i}().matches("aab")' for i in range(CXX_TYPES))
        parts.append(f"int main() {{ std::cout << {calls} + {matches} << std::endl; }}")
        return "\n".join(parts) + "\n"

    return write_once(folder / "headers.cc", text)


def json_file(folder):
    """17 MB of JSON records."""

    def text():
        records, size = [], 0
        while size < JSON_BYTES:
            number = len(records)
            records.append(
                json.dumps(
                    {
                        "id": number,
                        "name": f"record number {number * 7919 % 100003}",
                        "tags": [f"tag{number % 17}", f"tag{number % 29}"],
                        "place": {"x": number % 360 - 180.5, "y": number % 180 - 90.25},
                    }
                )
            )
            size += len(records[-1]) + 2
        return "[" + ",\n".join(records) + "]\n"

    return write_once(folder / "records.json", text)


def sql_file(folder):
    """SQL that fills a table of numbers and text, and asks one question of it."""

    def text():
        return f"""create table item (id integer primary key, number integer, name text, note text);
begin;
with recursive counter(x) as (select 1 union all select x + 1 from counter where x < {SQL_ROWS})
insert into item select x, x * 7919 % 100003, printf('item %08x', x * 2654435761 % 4294967296),
  'a note on number ' || x || ' that is long enough to be text' from counter;
commit;
select count(*), sum(number), max(name) from item where note like '%77%';
"""

    return write_once(folder / "fill.sql", text)
