"""Servers that are attached to and let go of again and again while they work: nothing goes wrong in them, no request is
lost, every slot and handler is as it was, and so is their memory. life/ holds what the programs are made of."""

import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest

import program_build
from heaptide_run import EVERY_ROW, execute, read_reports
from program_build import TESTS
from report_schema import total_problems
from slots import Slots
from test_attach import RESIDENT_LIMIT_BYTES, bare, done, handlers, memory, resident_bytes
from test_life import wait_for


@pytest.fixture
def rounds(pytestconfig):
    return pytestconfig.getoption("--attach-rounds")


def tell(process, word):
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    assert process.stdout.readline() == f"{word}\n"


def settled_bytes(pid, quiet, looks):
    """Its resident memory when it is at rest and has grown to what it needs. A C++ program of 100 threads goes on
    growing for minutes by itself, more and more slowly: for many rounds it is given some time."""
    seen = [0]
    while len(seen) < max(4, looks) or max(seen[-3:]) - min(seen[-3:]) > 128 << 10:
        time.sleep(0.5)
        with quiet():
            seen.append(resident_bytes(pid))
        assert len(seen) < 60 + looks, seen
    return max(seen[-3:])


def wait_until_at_work(out):
    """Until it has allocated since it was attached to: between two requests it may rest."""

    def has_allocated():
        done("snapshot", out)
        return read_reports(out)[-1]["summary"]["allocations"] > 0

    wait_for(has_allocated)


def go_round(pid, folder, rounds, quiet, options=(), limit_bytes=RESIDENT_LIMIT_BYTES):
    """Attaches and detaches as often as asked, with a snapshot now and then. `quiet` is a context in which the server
    rests with as little memory as it can."""
    slots, own, bound = memory(pid), handlers(pid), Slots(pid)  # first: to look at its pages makes them resident
    before = settled_bytes(pid, quiet, rounds)
    for number in range(rounds):
        out = folder / f"round-{number % 3}"
        shutil.rmtree(out, ignore_errors=True)
        done("attach", pid, *options, "--out", out)
        assert memory(pid) != slots
        if number % 3 == 1:
            done("snapshot", out)
        if number == rounds - 1:
            wait_until_at_work(out)
        done("detach", out)
        assert memory(pid) == slots and handlers(pid) == own
        after = Slots(pid)
        assert after.led_to_heaptide() == set() and after.changed_since(bound) == {}
    with quiet():
        grown = resident_bytes(pid) - before
    assert grown < limit_bytes, f"{grown / 2**20:.2f} MiB more than before"
    *_, report = read_reports(out, *EVERY_ROW)
    assert report["reason"] == "detach" and report["summary"]["allocations"] > 0 and total_problems(report) == []


@contextmanager
def load(request):
    """Calls request() over and over in a thread of its own; whatever that raises comes out at the end."""
    stop, failures = threading.Event(), []

    def work():
        while not stop.is_set() and not failures:
            try:
                request()
            except Exception as failure:  # for the test's own thread
                failures.append(failure)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()
    for failure in failures:
        raise failure


# --- C++


@pytest.mark.heavy
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("threads", [100, 200])
def test_threads_that_are_born_and_end(threads, rounds, tmp_path):
    program = program_build.build(TESTS / "life" / "threads.cc", flags=("-pthread",))

    @contextmanager
    def quiet():
        tell(process, "pause")
        yield
        tell(process, "go")

    with bare([program, threads]) as process:
        if threads == 100:
            go_round(process.pid, tmp_path, rounds, quiet)
        else:  # a page of heaptide's for each thread, and one or two of its stack
            go_round(process.pid, tmp_path, 2, quiet, limit_bytes=RESIDENT_LIMIT_BYTES + (threads - 100 << 14))
        process.stdin.close()
        assert process.stdout.read() == "0\n" and process.wait(60) == 0


# --- redis-server, with jemalloc


class Redis:
    """A server of its own, at a socket in `folder`."""

    def __init__(self, folder):
        self.socket, self.asked = folder / "redis.socket", 0
        options = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", folder]
        program = "/usr/bin/redis-check-rdb"  # the server goes by argv[0]; its package would start one
        self.process = subprocess.Popen(["redis-server", *map(str, options)], executable=program, stdout=-3)
        wait_for(lambda: self.socket.exists() and self.says("PING") == "PONG")

    def says(self, *words):
        run = execute(["redis-cli", "-s", self.socket, *words])
        assert run.status == 0 and not run.stderr, run.describe()
        return run.stdout.decode().strip()

    def serve(self):
        """redis-benchmark ends with 1 when a connection is lost, and waits for what is not answered."""
        for words in (["INCR", "served"], ["SET", "key:__rand_int__", "x" * 500]):
            run = execute(["redis-benchmark", "-s", self.socket, "-q", "-n", 2000, "-r", 1000, *words])
            assert run.status == 0 and "rror" not in run.stdout.decode() + run.stderr, run.describe()
        self.asked += 2000

    @contextmanager
    def quiet(self):
        with self.stopped:
            assert self.says("MEMORY", "PURGE") == "OK"
            yield

    stopped = threading.Lock()


@pytest.mark.heavy
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not shutil.which("redis-benchmark"), reason="redis-tools is not installed")
def test_redis_under_its_benchmark(rounds, tmp_path):
    server = Redis(tmp_path)

    def request():
        with server.stopped:
            server.serve()

    try:
        server.serve()
        with load(request):
            go_round(server.process.pid, tmp_path, rounds, server.quiet)
        assert server.says("GET", "served") == str(server.asked)
        assert execute(["redis-cli", "-s", server.socket, "SHUTDOWN"]).status == 0
        assert server.process.wait(20) == 0
    finally:
        server.process.kill()
        server.process.wait()


# --- Python's server

HTTP_SERVER = """
import ctypes, gc, http.server, os, sys, threading
os.chdir(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print("ready", server.server_port, sep=chr(10), flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
for word in sys.stdin:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    print(word, end="", flush=True)
"""


@pytest.mark.heavy
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_python_server_loses_no_request(options, rounds, tmp_path):
    (tmp_path / "page").write_text("hello\n")
    stopped = threading.Lock()

    @contextmanager
    def quiet():
        with stopped:
            tell(process, "trim")
            yield

    def request():
        with stopped:
            assert urllib.request.urlopen(address, timeout=60).read() == b"hello\n"

    with bare([sys.executable, "-c", HTTP_SERVER, tmp_path]) as process:
        address = f"http://127.0.0.1:{int(process.stdout.readline())}/page"
        for _ in range(200):
            request()
        with load(request):
            go_round(process.pid, tmp_path, rounds, quiet, options)
        process.stdin.close()
        assert process.wait(20) == 0
    (report,) = read_reports(tmp_path / f"round-{(rounds - 1) % 3}")
    assert bool(report["python"]) == bool(options)
