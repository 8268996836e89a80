"""Lost blocks, to which only bytes point that nobody wrote: those around the state of a str.

The state takes one byte of its word, and the rest of the word is as a block lost long ago had left it.
"""

import ctypes
import os
import sys
import threading

COUNT = 1 << 20
STATE = 32  # offset in the object
TEXTS = ["".join(["text", tail]) for tail in ("", "é", "Ω", "\U0001f600", "-" * 2000, "Ω" * 2000)]

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p


def lose(text):
    inside = libc.malloc(COUNT) + (COUNT >> 1)
    word = ctypes.c_uint64.from_address(id(text) + STATE)
    word.value = inside >> 16 << 16 | word.value & 0xFFFF


for text in TEXTS:
    thread = threading.Thread(target=lose, args=(text,))  # whose stack is gone with all that it held
    thread.start()
    thread.join()
sys.stdout.write(TEXTS[0])
sys.stdout.flush()
os._exit(0)
