"""Buffers of ctypes, whose types are made before; `measure` prints the bytes of each line as tracemalloc has them."""

import ctypes
import gc
import json
import sys
import tracemalloc

gc.disable()
Row = ctypes.c_double * 25_000
Point = type("Point", (ctypes.Structure,), {"_fields_": [("x", ctypes.c_double), ("rest", ctypes.c_char * 9_992)]})
Row(), Point(), ctypes.create_string_buffer(300_000)
strings, rows, points = [None] * 10, [None] * 10, [None] * 10


def fill():
    for index in range(10):
        strings[index] = ctypes.create_string_buffer(300_000)  # @string
        rows[index] = Row()  # @array
        points[index] = Point()  # @structure


def measure():
    tracemalloc.start(2)
    fill()
    lines = {}
    for trace in tracemalloc.take_snapshot().traces:
        for frame in trace.traceback:
            if frame.filename == __file__:
                lines[frame.lineno] = lines.get(frame.lineno, 0) + trace.size
    print(json.dumps(lines))


measure() if "measure" in sys.argv else fill()
