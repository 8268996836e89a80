"""Every way in which Python code keeps memory, each with its own size and line, and three ways to lose it."""

import ctypes
import functools
import gc
import mmap
import sys
import threading

gc.disable()
bytes(1), bytearray(1)  # up to 3.13 the first call of each keeps a name that it looked up
LISTED = [None] * 50
fillers = []


class Cache:
    def __init__(self):
        self.entries = dict.fromkeys(range(40))


CACHE = Cache()


@functools.cache
def remembered(key):
    return bytes(4000)  # @lru


def counting():
    payload = bytes(60_000)  # @generator
    yield len(payload)
    yield len(payload)


def closure():
    payload = bytes(70_000)  # @closure
    return lambda: payload


class Ring:
    pass


class DyingRing(Ring):
    def __del__(self):
        pass


def fill():
    for index in range(50):
        LISTED[index] = bytearray(20_000)  # @list
    for index in range(40):
        CACHE.entries[index] = bytes(3000)  # @dict
    for index in range(30):
        remembered(index)


def lose(kind, count):
    for _ in range(count):
        ring = kind()
        ring.itself = ring
        if kind is Ring:
            ring.payload = bytes(5000)  # @cycle
        else:
            ring.payload = bytes(6000)  # @dying


# Called in a thread of its own, each block mapped where nothing was before: at an address that was used something old
# may still point, and at a low one, or where malloc's memory for a thread begins at a multiple of 4 GiB, any number may
# look like a pointer.
def lose_native():
    libc = ctypes.CDLL(None)
    libc.mallopt(-3, 65_536)  # M_MMAP_THRESHOLD
    fillers.extend(mmap.mmap(-1, 70_000, prot=0) for _ in range(50))
    malloc = libc.malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], None
    for _ in range(20):
        malloc(70_000)  # @ctypes


def work(ready, done):
    payload = bytes(90_000)  # @other_thread
    local.payload = payload
    del payload
    mine = bytes(110_000)  # @frame
    ready.set()
    done.wait()
    return mine


spare = [(index,) for index in range(100)]
del spare  # the tuples that calls pass their arguments in: the interpreter keeps them for later
fill()
GENERATOR = counting()
next(GENERATOR)
CLOSURE = closure()
local = threading.local()
payload = bytes(80_000)  # @thread_local
local.payload = payload
del payload
lose(Ring, 10)
lose(DyingRing, 15)
lost = threading.Thread(target=lose_native)
lost.start()
lost.join()
ARRAYS = {}
if "numpy" in sys.argv:
    import numpy

    ARRAYS["weights"] = numpy.zeros((500, 200))  # @numpy
ready, done = threading.Event(), threading.Event()
thread = threading.Thread(target=work, args=(ready, done), name="worker", daemon=True)
thread.start()
ready.wait()
print(len(LISTED), len(CACHE.entries))
