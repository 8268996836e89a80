"""Buffers on tinygrad's HIP device: four kept, five one after the other, two lost by who asked its allocator."""

from tinygrad import dtypes
from tinygrad.device import Buffer, Device

MIB = 1 << 20
kept = []


def buffer(mib):
    return Buffer("HIP", mib * MIB // dtypes.float32.itemsize, dtypes.float32).allocate()


def keep():
    kept.append(buffer(1))


def pass_by():
    buffer(2)


def lose():
    Device["HIP"].allocator.alloc(3 * MIB)


for work, times in ((keep, 4), (pass_by, 5), (lose, 2)):
    for _ in range(times):
        work()
kept.clear()
