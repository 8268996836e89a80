# cython: language_level=3
from libc.stdlib cimport malloc


def lose(size_t size):
    if malloc(size) == NULL:
        raise MemoryError
