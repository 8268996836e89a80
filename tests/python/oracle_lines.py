# Makes objects of many types and keeps a part of them. `oracle_lines.py FILE` writes what tracemalloc, if it runs, says
# at the end of each line of each file: {"file:line": [bytes, blocks]}.
#
# A section is a statement. Before each the interpreter's free lists are emptied: of a block that one of them gives out
# again, tracemalloc says the line that asked last, heaptide the one that first did. `apart`: not compared. To 3.10 a
# thread's frame is one of those; and a class keeps its subclasses by their addresses, numbers that take 28 bytes below
# 2^30 and 32 above: where the heap of a program at a fixed address begins differs from run to run.
import collections
import decimal
import gc
import json
import re
import sys
import threading

gc.disable()
gc.collect()
keep = []


class Plain:
    def __init__(self, number):
        self.number = number
        self.text = f"text {number}"


class Slotted:
    __slots__ = ("left", "right")


# What the interpreter makes once, when something is asked for the first time, is not compared.
compile("0", "made", "eval")
gc.collect()


def made_and_dropped():
    for i in range(1000):
        keep.append(f"a string, number {i}")
        keep.append(bytes(i))
        if i % 3 == 0:
            keep.pop()


def reallocated():
    for size in range(100):
        buffer = bytearray()
        for _ in range(size * 10):
            buffer += b"some bytes"
        keep.append(buffer)


def in_threads():
    for _ in range(4):
        thread = threading.Thread(target=made_and_dropped)  # apart
        thread.start()
        thread.join()


def generator(number):
    yield number


SECTIONS = [
    made_and_dropped,
    reallocated,
    in_threads,
    lambda: keep.append([1 << i for i in range(3000)]),
    lambda: keep.append([1.5 * i for i in range(3000)]),
    lambda: keep.append([complex(i, i) for i in range(1000)]),
    lambda: keep.append([decimal.Decimal(i) / 7 for i in range(500)]),
    lambda: keep.append({i: str(i) for i in range(20000)}),
    lambda: keep.append({str(i) for i in range(5000)}),
    lambda: keep.append([(i, i + 1, i + 2) for i in range(5000)]),
    lambda: keep.append([[i] * (i % 50) for i in range(2000)]),
    lambda: keep.append(collections.deque(range(10000))),
    lambda: keep.append(collections.OrderedDict((i, None) for i in range(1000))),
    lambda: keep.append([Plain(i) for i in range(2000)]),
    lambda: keep.append([Slotted() for i in range(2000)]),
    lambda: keep.append([type(f"Made{i}", (), {}) for i in range(50)]),  # apart
    lambda: keep.append([compile(f"lambda: {i}", "made", "eval") for i in range(500)]),
    lambda: keep.append([lambda i=i: i for i in range(500)]),
    lambda: keep.append([iter(range(i)) for i in range(500)]),
    lambda: keep.append([generator(i) for i in range(500)]),
    lambda: keep.append(json.dumps({f"key {i}": [i, str(i), None] for i in range(3000)})),
    lambda: keep.append(json.loads(keep[-1])),
    lambda: keep.append(re.compile("|".join(f"(word{i}|other{i})+" for i in range(50)))),
    lambda: keep.append("".join(f"{i}," for i in range(5000)).split(",")),
]
for section in SECTIONS:
    gc.collect()
    section()
gc.collect()

if len(sys.argv) > 1:  # ---- the end
    import tracemalloc

    lines = {}
    for statistic in tracemalloc.take_snapshot().statistics("lineno"):
        frame = statistic.traceback[0]
        lines[f"{frame.filename}:{frame.lineno}"] = statistic.size, statistic.count
    with open(sys.argv[1], "w") as file:
        json.dump(lines, file)
