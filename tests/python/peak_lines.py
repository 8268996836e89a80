"""A peak in the middle, over sizes that the interpreter's own allocator serves and such that malloc serves."""

import gc

gc.disable()
small = [None] * 2000
large = [None] * 20
for i in range(2000):
    small[i] = bytes(200)  # @small
for i in range(20):
    large[i] = bytearray(50_000)  # @large
del small, large
for _ in range(10):
    later = bytearray(1000)
print("ok")
