"""Subinterpreters come and go, three at a time."""

import threading

try:
    import _interpreters as interpreters  # 3.13 on
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = "import json\nx = [bytes(100) for _ in range(5000)]\ny = {i: str(i) for i in range(5000)}"


def life():
    for _ in range(3):
        new = interpreters.create()
        (getattr(interpreters, "exec", None) or interpreters.run_string)(new, CODE)
        interpreters.destroy(new)


threads = [threading.Thread(target=life) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("ok")
