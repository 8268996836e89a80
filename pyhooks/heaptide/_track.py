"""`heaptide.track`: recording from inside a process, for the time of a block."""

import contextlib
import errno
import os
import sys
from glob import escape, glob

from heaptide import _recorder

DEPTH, EVERY_MS = 64, 100  # as `heaptide attach`
LABEL = "track"
LOWEST_PLAIN = 0x21  # of a session's bytes that stand as they are (native/options.def)


def _escaped(text):
    return "".join(chr(byte) if byte >= LOWEST_PLAIN and chr(byte) not in "%;" else f"%{byte:02X}" for byte in text)


def session_text(library, out):
    """What the recorder is told, as `heaptide attach` tells it."""
    numbers = f"depth={DEPTH};every_ms={EVERY_MS};main_pid={os.getpid()};".encode()
    texts = "".join(f"{name}={_escaped(os.fsencode(path))};" for name, path in (("library", library), ("out", out)))
    return numbers + texts.encode("latin-1")


def _default_folder():
    program = os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else sys.executable)
    return f"heaptide.{program or 'python'}.{os.getpid()}"


def _folder_made(out):
    folder = os.path.abspath(os.fsdecode(out) if out is not None else _default_folder())
    os.makedirs(folder, exist_ok=True)
    if glob(os.path.join(escape(folder), "heaptide.*.bin")):
        raise FileExistsError(errno.EEXIST, "heaptide: the folder holds reports; name another with out", folder)
    return folder


class Track:
    """What heaptide.track returns."""

    def __init__(self, out):
        self.out, self.recorder, self.begun = out, None, False
        self.label = os.path.basename(os.path.abspath(os.fsdecode(out))) if out is not None else LABEL

    def __enter__(self):
        self.recorder = _recorder.loaded()
        if self.recorder and self.recorder.is_recording():
            self._mark("begins")
            return None
        folder = _folder_made(self.out)
        try:
            self._attach(folder)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(folder)  # only when it is empty
            raise
        self.begun = True
        return folder

    def _attach(self, folder):
        self.recorder = _recorder.load()
        error = self.recorder.attach(session_text(_recorder.library_path() or "", folder))
        if error == errno.ENOTSUP:
            raise OSError(error, "heaptide: this process is under a `heaptide run` that leaves it out (--no-children)")
        _raise(error, "recording cannot begin")
        # Here Python's own objects come in, once the recorder takes them in a running interpreter (attach --py).

    def __exit__(self, *_):
        if self.begun:
            self.begun = False
            error = self.recorder.detach()
            if error != errno.EINVAL:  # somebody else has detached it meanwhile: the report is there
                _raise(error, "no report was written")
        else:
            self._mark("ends")
            _raise(self.recorder.snapshot(os.fsencode(self.label)), "no report was written")

    def _mark(self, what):
        self.recorder.mark(f"{self.label} {what}".encode(errors="surrogateescape"))


def _raise(error, what):
    if error:
        raise OSError(error, f"heaptide: {what}: {os.strerror(error)}")
