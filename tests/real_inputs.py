"""Makes the inputs of test_real_programs.py: the same every time, as large as the test needs them."""

import importlib.util
import json
import random
import subprocess
import sys
import tarfile

import pytest


def large_c_file(path, functions=200, prefix="f"):
    """A C file that keeps gcc -O2 busy for a few seconds."""
    chance = random.Random(1)
    parts = ["#include <stdint.h>\n#include <string.h>\nstruct state { uint64_t a[16]; char text[64]; };\n"]
    for number in range(functions):
        operations = "".join(
            f"  s->a[{chance.randrange(16)}] {chance.choice(['+=', '^=', '-='])} "
            f"(s->a[{chance.randrange(16)}] << {chance.randrange(1, 31)}) * {chance.randrange(1, 10**6)}u + x;\n"
            f"  if (s->a[{chance.randrange(16)}] % {chance.randrange(2, 9)} == 0) x ^= s->a[{chance.randrange(16)}];\n"
            for _ in range(8)
        )
        call = f"  if (x & 1) x += {prefix}{chance.randrange(number)}(s, x >> 1);\n" if number else ""
        loop = f"  for (int i = 0; i < {chance.randrange(3, 40)}; i++) s->text[i] ^= (char)(x >> (i & 7));\n"
        parts.append(
            f"uint64_t {prefix}{number}(struct state *s, uint64_t x) {{\n{operations}{loop}{call}  return x;\n}}\n"
        )
    path.write_text("".join(parts))


def large_json_file(path, mebibytes=50):
    chance = random.Random(2)
    with open(path, "w") as file:
        file.write("[\n")
        size, number = 0, 0
        while size < mebibytes << 20:
            words = [f"word{chance.randrange(1000)}" for _ in range(6)]
            record = {"id": number, "name": f"record {number}", "tags": words, "ratio": chance.random(), "none": None}
            text = ("," if number else "") + json.dumps(record) + "\n"
            size += file.write(text)
            number += 1
        file.write("]\n")


def git_repository(path, commits=200):
    """A repository with a history of small changes to many files."""
    chance = random.Random(3)
    path.mkdir()
    stream = []
    contents = {}
    for number in range(1, commits + 1):
        message = f"Change number {number}"
        stream.append(
            f"commit refs/heads/main\nmark :{number}\n"
            f"committer Somebody <somebody@example.invalid> {1700000000 + number * 60} +0000\n"
            f"data {len(message)}\n{message}\n" + (f"from :{number - 1}\n" if number > 1 else "")
        )
        for name in {f"folder{chance.randrange(10)}/file{chance.randrange(20)}.txt" for _ in range(5)}:
            lines = contents.setdefault(name, [f"line {i} of {name}" for i in range(100)])
            for _ in range(10):
                lines[chance.randrange(100)] = f"changed {number} {chance.random()}"
            text = "\n".join(lines) + "\n"
            stream.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=path, input="".join(stream).encode(), check=True)


SQL_SCRIPT = """
PRAGMA journal_mode = OFF;
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, weight REAL);
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300000)
INSERT INTO words SELECT n, printf('word-%08d', (n * 7919) % 1000003), n * 0.5 FROM numbers;
CREATE INDEX words_by_word ON words (word, weight);
SELECT count(*), min(word), max(word) FROM words INDEXED BY words_by_word WHERE word > 'word-00500000';
"""

HEAVY_CPP = """
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
int main(int count, char **words) {
  std::map<std::string, std::vector<int>> table;
  std::regex pattern("([a-z]+)=([0-9]+)");
  std::smatch match;
  for (int i = 1; i < count; i++) {
    std::string word = words[i];
    if (std::regex_match(word, match, pattern)) table[match[1]].push_back(std::stoi(match[2]));
  }
  std::variant<int, std::string> value = "text";
  auto later = std::async([&] { return table.size(); });
  for (auto &[name, numbers] : table)
    std::cout << name << std::accumulate(numbers.begin(), numbers.end(), 0) << std::get<1>(value) << later.get();
}
"""


def make_project(path, files=10):
    """A small C project: a program of several files, and its Makefile."""
    path.mkdir()
    calls = []
    for number in range(files):
        large_c_file(path / f"part{number}.c", functions=10, prefix=f"p{number}_")
        calls.append(f"p{number}_9")
    declared = "".join(f"uint64_t {call}(struct state *, uint64_t);\n" for call in calls)
    used = "".join(f"  x += {call}(&s, x);\n" for call in calls)
    (path / "main.c").write_text(
        "#include <stdint.h>\n#include <stdio.h>\nstruct state { uint64_t a[16]; char text[64]; };\n"
        f"{declared}int main(void) {{\n  struct state s = {{{{1}}, {{0}}}};\n  uint64_t x = 1;\n{used}"
        '  printf("%llu\\n", (unsigned long long)x);\n  return 0;\n}\n'
    )
    objects = " ".join(["main.o", *(f"part{number}.o" for number in range(files))])
    (path / "Makefile").write_text(
        f"program: {objects}\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -O1 -w -c -o $@ $<\nclean:\n\trm -f program *.o\n"
    )


NUMPY_SCRIPT = """
import numpy
def table_make():
    return numpy.arange(1e6).reshape(1000, 1000)  # @table
def work(table):
    total = 0.0
    for step in range(20):
        product = table @ table.T
        total += float(numpy.sort(product, axis=None)[-1]) + float(product.sum())
    return total
kept = table_make()
rows = [numpy.arange(10000, dtype=numpy.int64) for _ in range(100)]  # @rows
print(work(kept), sum(int(row.sum()) for row in rows))
"""

TORCH_SCRIPT = """
import torch
torch.manual_seed(0)
torch.set_num_threads(2)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(512, 64), torch.randint(0, 10, (512,))
kept = []
def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    return loss
for number in range(50):
    loss = step()
    kept.append(bytearray(100_000))  # @kept
print(f"{float(loss.detach()):.4f}", len(kept))
"""

# Of Django's tests those that need no service and take some ten seconds together.
DJANGO_SUITES = ("template_tests", "forms_tests", "queries", "model_fields", "utils_tests")
DJANGO = "django==5.2.19"


def django_source(path):
    """Django's source with its tests, which only the source archive has. Skips where that is not to be had."""
    for needed in ("asgiref", "sqlparse"):
        if not importlib.util.find_spec(needed):
            pytest.skip(f"{needed} is not installed: pip install -r tests/requirements.txt")
    options = ["-q", "--disable-pip-version-check", "--no-deps", "--no-binary", "django", "--dest", path]
    try:
        subprocess.run([sys.executable, "-m", "pip", "download", *options, DJANGO], check=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"the package registry does not give the source of {DJANGO}")
    (archive,) = path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(path)
    return archive.with_name(archive.name.removesuffix(".tar.gz"))
