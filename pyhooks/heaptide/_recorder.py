"""The recorder, libheaptide.so, as this process sees it: where it is, and its functions (native/mark.h, snapshot.h,
attach.h)."""

import errno
import os
import sys

try:
    import ctypes
except ImportError:  # an interpreter that was built without it
    ctypes = None

LIBRARY = "libheaptide.so"
FOLDERS = 5  # upwards from here: of a virtual environment, an installation with --user or --target, a source tree
PLACES = (f"lib/heaptide/{LIBRARY}", f"build/{LIBRARY}")


class Recorder:
    """The functions of a loaded recorder."""

    def __init__(self, library):
        self.mark = library.ht_mark
        self.mark.argtypes, self.mark.restype = [ctypes.c_char_p], None
        self.snapshot = library.ht_snapshot
        self.snapshot.argtypes, self.snapshot.restype = [ctypes.c_char_p], ctypes.c_int
        self.attach = library.ht_attach
        self.attach.argtypes, self.attach.restype = [ctypes.c_char_p], ctypes.c_int
        self.detach = library.ht_detach
        self.detach.argtypes, self.detach.restype = [], ctypes.c_int

    def is_recording(self):
        # No folder has the name "/", so that nothing is written; a recorder that records nothing says ENOSYS.
        return self.snapshot(b"/") == errno.EINVAL


class _Own:
    """What this process knows of its recorder."""

    recorder = None  # once it was found
    look_again = 0.0  # when a mark looks for it next, by time.monotonic


own = _Own()


def _opened(path, mode=0):
    """PyDLL keeps the GIL: while the recorder works no other thread changes objects."""
    try:
        return Recorder(ctypes.PyDLL(path, mode or ctypes.DEFAULT_MODE))
    except (AttributeError, OSError):
        return None


def _mapped_path():
    """Of a recorder that was loaded late (attach, track): where no name is found without it."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            paths = {line.split(None, 5)[5].strip() for line in maps if line.rstrip().endswith(b"/" + LIBRARY.encode())}
    except OSError:
        return None
    return os.fsdecode(paths.pop()) if paths else None


def loaded():
    """The recorder of this process; None: there is none."""
    if own.recorder is None and ctypes:
        own.recorder = _opened(None)
        path = None if own.recorder else _mapped_path()
        if path:
            own.recorder = _opened(path, os.RTLD_NOW | os.RTLD_NOLOAD)
    return own.recorder


def library_path():
    """Of this installation; None: it is not there."""
    folder, folders = os.path.dirname(os.path.realpath(__file__)), [sys.prefix]
    for _ in range(FOLDERS):
        folder = os.path.dirname(folder)
        folders.append(folder)
    candidates = [os.path.join(folder, place) for folder in folders for place in PLACES]
    for folder in os.get_exec_path():
        command = os.path.realpath(os.path.join(folder, "heaptide"))
        if os.path.isfile(command):  # where the command looks (cli/library.c)
            candidates += [os.path.join(os.path.dirname(command), place) for place in (LIBRARY, f"../{PLACES[0]}")]
    return next((os.path.realpath(path) for path in candidates if os.path.isfile(path)), None)


def load():
    """The recorder, loaded now unless it was; it stays for good. Raises OSError."""
    path = ctypes and library_path()
    own.recorder = loaded() or (path and _opened(path, os.RTLD_NOW | os.RTLD_LOCAL)) or None
    if own.recorder:
        return own.recorder
    if not ctypes:
        raise OSError(errno.ENOSYS, "heaptide: this Python was built without ctypes")
    if not path:
        raise FileNotFoundError(errno.ENOENT, "heaptide: the recorder is not installed; pip install heaptide", LIBRARY)
    raise OSError(errno.ENOEXEC, "heaptide: the recorder cannot be loaded; start the program under heaptide run", path)
