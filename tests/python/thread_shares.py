"""Threads, one after the other, that keep and lose objects on the same lines. Prints their kernel numbers."""

import gc
import threading

KEPT = []


def keep(count):
    for number in range(count):
        KEPT.append(bytes(2000 - 33) + b"%d" % (number % 2))  # @held


def lose(count):
    for _ in range(count):
        ring = [bytes(3000 - 33)]  # @lost
        ring.append(ring)


def work(held, lost):
    keep(held)
    lose(lost)
    print(threading.get_native_id(), flush=True)


gc.disable()
for _ in range(2):
    for held, lost in ((100, 7), (300, 11), (10, 0)):
        thread = threading.Thread(target=work, args=(held, lost))
        thread.start()
        thread.join()
