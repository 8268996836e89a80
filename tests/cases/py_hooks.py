# python3 py_hooks.py       lines 7, 9 and 12 must be the sites whatever hook is active
import sys, threading, time
keep = []
def prof(*a): return None
def grow(n):
    for _ in range(1000):
        keep.append(bytearray(n))
def lines():
    keep.append([object() for _ in range(50000)])
def later():
    time.sleep(0.2)
    keep.append(bytearray(3 << 20))
t = threading.Thread(target=later, name="a rather long thread name with ünïcode")
t.start()
sys.setprofile(prof); grow(1000); sys.setprofile(None)
threading.setprofile(prof); sys.settrace(prof); grow(1001); sys.settrace(None)
def rec(n): return grow(1) if n == 0 else rec(n - 1)
sys.setrecursionlimit(20000); rec(5000); lines()
exec(compile("keep.append(bytearray(4 << 20))", "<generated «x»>", "exec"))
t.join(); print(len(keep))
