"""64 MiB in the parent, then a pool of four workers by fork, two of which write to half of it."""

import multiprocessing
import os
import sys

TABLE_BYTES = 64 << 20
PAGE_BYTES = 4096


def table_build():
    return bytearray(b"x") * TABLE_BYTES


def half_write(number):
    barrier.wait()  # each worker takes one
    if number < 2:
        half = TABLE_BYTES // 2
        for at in range(number * half, (number + 1) * half, PAGE_BYTES):
            table[at] = 1
    barrier.wait()
    return os.getpid()


table = table_build()
context = multiprocessing.get_context("fork")
barrier = context.Barrier(4)
with context.Pool(4) as pool:
    workers = pool.map(half_write, range(4), chunksize=1)
    if len(set(workers)) != 4:
        sys.exit("a worker took two")
    pool.close()
    pool.join()
