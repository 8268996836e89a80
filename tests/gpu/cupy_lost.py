"""CuPy: blocks from HIP itself, and one that its pool took and handed a part of out."""

import cupy


def lose_raw():
    return [cupy.cuda.runtime.malloc(3 << 20) for _ in range(4)]  # @raw


def lose_array():
    cupy.cuda.set_allocator(None)
    return cupy.empty((1000, 1000), dtype="float32")


def lose_pinned():
    return cupy.cuda.runtime.hostAlloc(12345, 0)  # @pinned


def end_well():
    pointer = cupy.cuda.runtime.malloc(777)
    cupy.cuda.runtime.free(pointer)
    pool = cupy.cuda.MemoryPool()
    cupy.cuda.set_allocator(pool.malloc)
    array = cupy.empty(100, dtype="float64")
    del array
    pool.free_all_blocks()


class Model:
    def __init__(self):
        cupy.cuda.set_allocator(None)
        self.weights = {"layer 1": cupy.empty((64, 32, 16), dtype="float16")}


end_well()
model = Model()
kept = [lose_raw(), lose_array(), lose_pinned()]
