"""Native blocks that threads lose on behalf of others. argv: a library with `lose` and `lose_in_thread`."""

import asyncio
import ctypes
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

library = ctypes.CDLL(sys.argv[1])
lose, lose_in_thread = library.lose, library.lose_in_thread
for function in (lose, lose_in_thread):
    function.argtypes, function.restype = [ctypes.c_size_t], None


def work(size):
    lose(size)  # @work


def queue_first(pool):
    return pool.submit(work, 100_001)  # @first


def queue_second(pool):
    return pool.submit(work, 100_002)  # @second


def queue_function(pool):
    return pool.submit(lose, 100_003)  # @function


def queue_many(pool):
    return list(pool.map(work, [100_004] * 3))  # @map


def start_thread():
    thread = threading.Thread(target=work, args=(100_005,))
    thread.start()  # @thread
    thread.join()


class Worker(threading.Thread):
    def run(self):
        lose(100_006)  # @run


def start_subclass():
    worker = Worker()
    worker.start()  # @subclass
    worker.join()


def start_native():
    lose_in_thread(100_007)  # @native


async def in_thread():
    await asyncio.get_running_loop().run_in_executor(None, work, 100_008)  # @asyncio


def initialize():
    lose(100_009)  # @initialize


def start_nested(pool):
    pool.submit(start_inner).result()  # @nested
    pool.submit(lose_in_thread, 100_013).result()  # @native_nested


def start_inner():
    thread = threading.Thread(target=work, args=(100_010,))
    thread.start()  # @inner
    thread.join()


class Wrapping(ThreadPoolExecutor):
    def _adjust_thread_count(self):
        super()._adjust_thread_count()


def start_traced(self, start=threading.Thread.start):
    start(self)


def queue_wrapped():
    """What tracers do to threads, and programs to executors: the threads are an executor's all the same."""
    threading.Thread.start = start_traced
    with Wrapping(1) as pool:
        pool.submit(int).result()
        pool.submit(work, 100_012).result()  # @wrapped


def main():
    # Thread of the pool: one, so that each call but the first finds it there.
    with ThreadPoolExecutor(1, initializer=initialize) as pool:
        for queue in (queue_first, queue_second, queue_function):
            queue(pool).result()
        queue_many(pool)
        start_nested(pool)
    start_thread()
    start_subclass()
    start_native()
    asyncio.run(in_thread())
    lose(100_011)  # @main
    queue_wrapped()


main()  # @module
