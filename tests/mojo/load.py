"""Opens the library of library.mojo and loses 100 blocks in it."""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.lose.restype = ctypes.c_long
library.lose.argtypes = [ctypes.c_long]
print("sum", library.lose(100))
