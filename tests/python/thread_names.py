"""Threads of every sort, ended and living, each with the name that it ends up with; then the end by argv[1]."""

import _thread
import concurrent.futures
import os
import signal
import sys
import threading

LONG = "a rather long name with ünïcode, 線 and 🧵, "
keep = []
up, hold = threading.Semaphore(0), threading.Semaphore(0)


def work():
    keep.append([bytes(1000) for _ in range(10)])


def stay():
    work()
    up.release()
    hold.acquire()


def run_ended(thread):
    thread.start()
    thread.join()


def start_living(thread):
    thread.daemon = True
    thread.start()
    up.acquire()
    return thread


class Own(threading.Thread):
    """Overrides what may be overridden. Asked for its name by property it would say so."""

    def start(self):
        super().start()

    def run(self):
        self._todo()

    @property
    def name(self):
        keep.append(bytearray(1))
        return "the property"

    @name.setter
    def name(self, value):
        raise AssertionError("renamed")


def own(todo, name):
    thread = Own(name=name)
    thread._todo = todo
    return thread


class Text(str):
    __slots__ = ()

    def __getitem__(self, index):
        raise AssertionError("a method of a name was called")

    __str__ = __iter__ = __hash__ = encode = __getitem__


# ---- ended
run_ended(threading.Thread(target=work, name="ended " + LONG))
run_ended(threading.Thread(target=work, name="cut " + "ж" * 400))
run_ended(own(work, "ended subclass " + LONG))
with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="ended pool " + LONG) as pool:
    pool.submit(work).result()
odd = threading.Thread(target=work)
odd._name = Text("ended text")
run_ended(odd)
for value in (17, None, [], b"bytes") if sys.version_info < (3, 14) else ():  # which hands it to the kernel, and fails
    odd = threading.Thread(target=work)
    odd._name = value
    run_ended(odd)
odd = threading.Thread(target=work)
odd._name = "ended \0 \ud800 \udcff"
run_ended(odd)

start_new = getattr(threading, "_start_joinable_thread", None) or threading._start_new_thread


def wrapped(*arguments, **named):
    return start_new(*arguments, **named)


def wrap(function):
    for attribute in "_start_joinable_thread", "_start_new_thread":
        if hasattr(threading, attribute):
            setattr(threading, attribute, function)


wrap(wrapped)
run_ended(threading.Thread(target=work, name="ended wrapped"))
wrap(start_new)

# ---- living
start_living(threading.Thread(target=stay, name="living " + LONG))
start_living(own(stay, "living subclass " + LONG))
start_living(threading.Thread(target=stay, name="before")).name = "renamed " + LONG
vars(start_living(threading.Thread(target=stay, name="before"))).update(_name="renamed by dict " + LONG)
start_living(threading.Thread(target=stay, name="kept after a number"))._name = 18
start_living(threading.Thread(target=stay, name="kept after none"))._name = None
del start_living(threading.Thread(target=stay, name="kept after del"))._name
start_living(threading.Thread(target=stay, name="before"))._name = Text("living text")
pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="living pool " + LONG)
pool.submit(work).result()


def foreign():
    if len(sys.argv) > 2:
        threading.current_thread().name = "named by itself " + LONG
    stay()


_thread.start_new_thread(foreign, ())
up.acquire()

# ---- the end
if sys.argv[1] == "os_exit":
    os._exit(0)
elif sys.argv[1] == "terminated":
    os.kill(os.getpid(), signal.SIGTERM)
elif sys.argv[1] == "crash":
    import ctypes

    ctypes.string_at(0)
elif sys.argv[1] == "fork":
    pid = os.fork()
    if pid == 0:
        run_ended(threading.Thread(target=work, name="child, ended"))
        start_living(threading.Thread(target=stay, name="child, living"))
        os._exit(0)
    os.waitpid(pid, 0)
    os._exit(0)
elif sys.argv[1] == "threads_gone":
    threading._active = sys.argv  # what the program keeps there is its own business
    sys.modules["threading"] = 5
    os._exit(0)
# else to its own end, with daemons living
