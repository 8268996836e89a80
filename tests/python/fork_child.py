"""A child that only reports what it allocated itself; it ends as a Python program does, or at once."""

import os
import sys

before = bytearray(300_000)
pid = os.fork()
if pid == 0:
    after = bytearray(50_000)  # @child
    before = None
    if sys.argv[1] == "now":
        os._exit(0)
    sys.exit(0)
print(os.waitpid(pid, 0)[1], len(before))
