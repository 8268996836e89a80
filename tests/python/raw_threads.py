"""PyMem_Raw* from threads that never met the interpreter and without its lock."""

import ctypes
import threading

lib = ctypes.CDLL(None)  # CDLL drops the GIL around calls
lib.PyMem_RawMalloc.restype = ctypes.c_void_p
lib.PyMem_RawMalloc.argtypes = [ctypes.c_size_t]
lib.PyMem_RawFree.argtypes = [ctypes.c_void_p]


def work():
    for i in range(5000):
        lib.PyMem_RawFree(lib.PyMem_RawMalloc(i % 600))


threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc = ctypes.CDLL("libc.so.6")
thread_id = ctypes.c_ulong()
address = ctypes.cast(lib.PyMem_RawMalloc, ctypes.c_void_p)
libc.pthread_create(ctypes.byref(thread_id), None, address, ctypes.c_void_p(4096))
libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
libc.pthread_join(thread_id, None)
print("ok")
