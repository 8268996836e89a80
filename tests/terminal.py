"""A terminal for programs that draw on one: what they wrote is there as lines of text."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

END_SECONDS = 20


class Screen(pyte.Screen):
    """With what pyte leaves out of ECMA-48 and xterm has: SU and SD, which scroll between the margins, and REP."""

    last = " "

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:] or self.last

    def scroll_up(self, count=1):
        self._scroll(self.index, 1, count)

    def scroll_down(self, count=1):
        self._scroll(self.reverse_index, 0, count)

    def _scroll(self, step, edge, count):
        at = self.cursor.y
        self.cursor.y = (self.margins or (0, self.lines - 1))[edge]
        for _ in range(count or 1):
            step()
        self.cursor.y = at

    def repeat(self, count=1):
        self.draw(self.last * (count or 1))


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}


class Terminal:
    """Runs a command on a terminal of its own, of `columns` by `lines`. Use it in a `with` statement."""

    def __init__(self, argv, columns=80, lines=24, env=None):
        self.screen = Screen(columns, lines)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.main, side = pty.openpty()
        self._size_set(columns, lines)
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})}
        for name in [name for name, value in environment.items() if value is None]:
            del environment[name]
        self.process = subprocess.Popen(
            [str(word) for word in argv],
            stdin=side,
            stdout=side,
            stderr=side,
            env=environment,
            start_new_session=True,
        )
        os.close(side)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.main)

    def _size_set(self, columns, lines):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.screen.reset()
        self._size_set(columns, lines)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def keys(self, text):
        os.write(self.main, text.encode())

    def _read(self, seconds):
        ready, _, _ = select.select([self.main], [], [], seconds)
        try:
            data = os.read(self.main, 65536) if ready else None
        except OSError:  # the other side is closed: EIO
            data = b""
        if data:
            self.raw += data
            self.stream.feed(data)
        return data

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait(self, condition, seconds=30, meanwhile=None):
        """Until `condition` of the lines is true; returns what it gave. `meanwhile` is called at each look."""
        until = time.monotonic() + seconds
        while True:
            if condition(self.lines):
                self._finish_picture()
                if found := condition(self.lines):
                    return found
            assert time.monotonic() < until, f"not on the screen in time:\n{self.text}"
            if meanwhile:
                meanwhile()
            self._read(0.2)

    def _finish_picture(self):
        """A picture may come in pieces: it is whole when nothing has come for a while."""
        until = time.monotonic() + 5
        while self._read(0.1) and time.monotonic() < until:
            pass

    def end(self):
        """Its exit status, once it has ended by itself."""
        until = time.monotonic() + END_SECONDS
        while self._read(0.2) != b"":
            assert time.monotonic() < until, f"it goes on:\n{self.text}"
        return self.process.wait(END_SECONDS)
