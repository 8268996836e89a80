"""Native code between two evaluations of Python code: two losses, one on each side."""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.lose.argtypes, library.lose.restype = [ctypes.c_size_t], None
call_back = ctypes.CFUNCTYPE(None)


def inner():
    library.lose(500)  # @inner


def middle():
    inner()  # @middle


def outer():
    library.call_back(call_back(middle))  # @outer


for _ in range(7):
    outer()  # @module
