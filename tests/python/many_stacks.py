"""Queues calls from more stacks than heaptide keeps whole. argv: a library with `lose`, how many."""

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

lose = ctypes.CDLL(sys.argv[1]).lose
lose.argtypes, lose.restype = [ctypes.c_size_t], None
LEVELS = 15


def queue(path, levels):
    if levels == 0:
        return pool.submit(lose, 100_001)
    if path & 1:
        return queue(path >> 1, levels - 1)
    if path & 2:
        return queue(path >> 1, levels - 1)
    return queue(path >> 1, levels - 1)


with ThreadPoolExecutor(1) as pool:
    for path in range(int(sys.argv[2])):
        queue(path, LEVELS)
