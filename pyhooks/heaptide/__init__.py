"""heaptide: a memory profiler and leak finder. The command does the work.

Inside a program that runs under `heaptide run` or was attached to, this module marks points on the timeline and asks
for reports. In any other process `enabled`, `mark` and `snapshot` do nothing; `track` starts recording by itself.
"""

import errno
import os
import time

from heaptide import _recorder
from heaptide._track import Track

__version__ = "0.1.0"
__all__ = ["enabled", "mark", "snapshot", "track"]

_LOOK_SECONDS = 5  # marks in a process that is not recorded look this often whether somebody has attached to it


def enabled():
    """Whether this process is recorded now."""
    recorder = _recorder.loaded()
    return recorder is not None and recorder.is_recording()


def mark(name):
    """A point on the timeline: now, with what is live now. A repeated name is an iteration.

    Cheap enough for a training loop: a microsecond, and less in a process that is not recorded. A name of over 127
    bytes is cut.
    """
    own = _recorder.own
    recorder = own.recorder
    if recorder is None and time.monotonic() >= own.look_again:
        recorder = _recorder.loaded()
        own.look_again = time.monotonic() + _LOOK_SECONDS
    if recorder is not None:
        recorder.mark(name.encode(errors="surrogateescape"))


def snapshot(label=None):
    """Writes a report of now, into the report folder's subfolder `label` if that is given, and waits until it is there.

    Returns whether one was written: False in a process that is not recorded. Raises ValueError for a label that cannot
    be a folder's name, OSError when the report could not be written.
    """
    recorder = _recorder.loaded()
    error = recorder.snapshot(None if label is None else os.fsencode(label)) if recorder else errno.ENOSYS
    if error == errno.EINVAL:
        raise ValueError(f"not a folder's name: {label!r}")
    if error not in (0, errno.ENOSYS):
        raise OSError(error, os.strerror(error))
    return error == 0


def track(out=None):
    """`with heaptide.track(out="folder"):` records what the block does, and writes its report there at its end.

    For a process that was not started under `heaptide run`. It is as if `heaptide attach` came at the block's begin and
    `heaptide detach` at its end: memory is charged to native code (Python's own objects are seen as the blocks and
    mappings of its allocators), and what was there before counts as holding what it points to. `out` is a new folder or
    one without reports, by default heaptide.PROGRAM.PID; the block gets its path.

    Where recording is on already, the block's begin and end are marked, and at its end a snapshot is written into the
    report folder's subfolder of the name of `out` ("track" without one).

    Raises FileExistsError when `out` holds reports, OSError when recording could not begin or no report be written.
    """
    return Track(out)
