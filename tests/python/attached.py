"""What `heaptide attach --py` comes to: objects from before, threads, and more of what it is told to. A command is one
word on stdin, answered by `done` and what it gave."""

import ctypes
import importlib
import os
import sys
import threading
import tracemalloc


class Box:
    def __init__(self, size):
        self.data = bytearray(size)


class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


kept = []
before = [Box(1000) for _ in range(2000)]
stop = threading.Event()


def keep():
    for _ in range(10):
        kept.append(Box(100_000))  # @keep


def small():
    kept.append([object() for _ in range(500)])  # @small


def deep():
    def inner():
        kept.append(bytearray(200_000))  # @inner

    def middle():
        inner()  # @middle

    middle()  # @outer


def forget():
    before.clear()


def lose():
    pair = Box(5000), Box(5000)
    pair[0].other, pair[1].other = pair[1], pair[0]


def churn():
    while not stop.is_set():
        words = [str(number) * 3 for number in range(200)]
        sorted(words)


def allocators():
    """The functions of each domain, as numbers."""
    found = []
    for domain in range(3):
        allocator = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(allocator))
        found += [allocator.context, allocator.malloc, allocator.calloc, allocator.realloc, allocator.free]
    return found


def hold_lock():
    """Stays in one C call, with the GIL, until something comes on the descriptor that the test has."""
    waited = (ctypes.c_int * 2)(int(os.environ["HOLD_FD"]), 1)  # struct pollfd: POLLIN
    print("holding", flush=True)
    ctypes.PyDLL(None).poll(waited, 1, -1)


def trace():
    tracemalloc.start()


def trace_end():
    tracemalloc.stop()


def interpreter():
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    kept.append(importlib.import_module(name).create())  # 3.12 ends one that nobody has


def commands():
    for line in sys.stdin:
        answer = globals()[line.strip()]()
        print("done", *(answer or ()), flush=True)
    stop.set()


if "thread" in sys.argv:  # the main thread waits, without the GIL
    worker = threading.Thread(target=commands)
if "busy" in sys.argv:
    for _ in range(3):
        threading.Thread(target=churn).start()
print("ready", flush=True)
if "thread" in sys.argv:
    worker.start()
    worker.join()
else:
    commands()
sys.exit(7)
