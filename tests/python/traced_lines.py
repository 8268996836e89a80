"""The lines are the same whatever watches the program: a profile function, a trace function, deep recursion."""

import sys

keep = [None] * 4


def watch(*_):
    return None


def grow(place):
    keep[place] = bytearray(100_000)  # @grow


def deep(depth):
    if depth:
        return deep(depth - 1)
    return grow(2)


sys.setprofile(watch)
grow(0)
sys.setprofile(None)
sys.settrace(watch)
grow(1)
sys.settrace(None)
deep(500)
exec(compile("keep[3] = bytearray(200_000)", "<generated «x»>", "exec"))
print(sum(map(len, keep)))
