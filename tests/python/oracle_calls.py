# Allocates in many ways, each in a loop of its own. A profile function of C, as memray has one, makes the interpreter
# allocate when a function of Python is entered (in the line of its def) and for each call of a method of C: there is
# none of either in the lines that are compared. `apart`: of that one the blocks of C only.
import gc
import hashlib
import sqlite3
import threading

gc.disable()
room = [None] * 5000
SIZES = range(5000)


# To 3.10 names that the interpreter looks up, `__bytes__` and `keys`, are made when they are needed first.
bytes(1), dict(enumerate(""))
# The free lists are as full as they get, whatever was done before.
del [[[], {}, set(), i * 0.5, *(tuple(range(n)) for n in range(20))] for i in range(3000)][:]


class Slotted:
    __slots__ = ("left", "right")


def strings():
    for i in SIZES:
        room[i] = f"a string, number {i}"
        room[i] = f"{i} and {i}"
        room[i] = "é" * i
        room[i] = str(i)


def bytes_of_all_sizes():
    for i in SIZES:
        room[i] = bytes(i)
        room[i] = bytearray(i)


def numbers():
    for i in SIZES:
        room[i] = 1 << i
        room[i] = complex(i, i)


def containers():
    for i in SIZES:
        room[i] = (i, i)
        room[i] = [i, i]
        room[i] = {i: i}
        room[i] = {i, -i}
        room[i] = [0] * i
        room[i] = list(range(i % 100))
        room[i] = dict(enumerate("some words"))


def instances():
    for i in SIZES:
        room[i] = Slotted()
        room[i] = object()
        room[i] = slice(i, i)
        room[i] = iter(SIZES)
        room[i] = memoryview(b"")


def reallocated():
    for i in range(2000):
        if i % 100 == 0:
            buffer = bytearray()
        buffer += b"some bytes"
        room[i] = buffer


def dropped():
    for i in SIZES:
        bytes(i)
        str(i)


def native():
    for i in range(500):
        room[i] = hashlib.sha256()
        room[i] = hashlib.blake2b()
    for i in range(20):
        room[i] = sqlite3.connect(":memory:")  # apart


SECTIONS = [strings, bytes_of_all_sizes, numbers, containers, instances, reallocated, dropped, native]
for section in SECTIONS:
    section()
for _ in range(3):
    thread = threading.Thread(target=strings)
    thread.start()
    thread.join()
