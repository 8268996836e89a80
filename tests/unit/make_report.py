"""Writes report files (docs/file-format.md) from a small description: tests of the reader need no recorder.

report = Report(pid=7)
report.leak(report.site(report.stack(("python", "f", "/x.py", 3)), live=(100, 1)), direct=(100, 1))
data = report.data()
"""

import ctypes
import struct
import zlib

KINDS = ["heap", "mmap", "python", "device", "pinned", "managed"]
REASONS = ["exit", "_exit", "signal", "crash", "snapshot", "detach", "exec", "killed"]
MAIN, PYTHON, ATTACHED, ESTIMATED, SCANNED, FORKED = 1, 2, 4, 8, 16, 32
PROGRAM, OWN, LIBC = 2, 4, 16
UNKNOWN = 0xFFFFFFFF
(PROCESS, STRINGS, MODULES, FRAMES, NODES, SITES, LEAKS, SIZES, TIMELINE, SITE_TIMELINE, THREADS, HOLDERS,
 HOLDER_LINKS, NOTES, MARK_NAMES, MARKS, TIMELINE_CALLS) = range(1, 18)  # fmt: skip
PYTHON_TYPES, PYTHON_LOST_TYPES = 18, 27
OWNERS, SITE_OWNERS = 31, 32
HEADER = struct.Struct("<8sIIQII")
SECTION = struct.Struct("<IIQQQII")


def compressed(data):
    """One zstd frame, by the machine's libzstd."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_int,
    ]
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:size]


def file_bytes(sections, version=1, zstd=False, file_size=None):
    """A whole file of {id: raw bytes}; `file_size` lies about its size."""
    table, stored = [], b""
    start = HEADER.size + SECTION.size * len(sections)
    for number, raw in sections.items():
        body = compressed(raw) if zstd else raw
        table.append(SECTION.pack(number, int(zstd), start + len(stored), len(body), len(raw), zlib.crc32(body), 0))
        stored += body + b"\0" * (-len(body) % 8)
    return sealed(b"".join(table), stored, len(sections), version, file_size)


def sealed(table, stored, count, version=1, file_size=None):
    """Header, table and bodies with the header's checksum set right."""
    size = HEADER.size + len(table) + len(stored) if file_size is None else file_size
    blank = HEADER.pack(b"HEAPTIDE", version, count, size, 0, 0)
    return HEADER.pack(b"HEAPTIDE", version, count, size, zlib.crc32(blank + table), 0) + table + stored


class Report:
    """One process; every method returns the index of what it added."""

    def __init__(self, **process):
        self.process = {
            "pid": 100,
            "ppid": 1,
            "image": 0,
            "flags": MAIN | SCANNED,
            "reason": "exit",
            "signal": 0,
            "rank": UNKNOWN,
            "depth": 64,
            "started": 1_790_000_000_000_000_000,
            "duration": 2_000_000_000,
            "sample": 0,
            "peak": 0,
            "peak_ns": 0,
            "live": 0,
            "rss": 0,
            "own": 0,
            "arenas": 0,
            "unseen": 0,
            "exe": "/bin/demo",
            "argv": ["demo"],
            "label": "",
            "kinds": {},
        }
        self.process.update(process)
        self.strings = bytearray(b"\0")
        self.known = {"": 0}
        self.modules, self.leaks, self.sizes, self.samples, self.threads = [], [], [], [], []
        self.frames, self.nodes, self.sites = [bytes(24)], [bytes(8)], [bytes(72)]
        self.holders, self.links, self.notes, self.curves = [], [], [], []
        self.types, self.lost_types, self.mark_names, self.marks, self.calls = [], [], {}, [], []
        self.owners, self.site_owners = [bytes(8)], [0]
        self.known_nodes = {}

    def string(self, text):
        """`text` may be bytes, for what is no UTF-8."""
        raw = text if isinstance(text, bytes) else text.encode()
        if text not in self.known:
            self.known[text] = len(self.strings)
            self.strings += raw + b"\0"
        return self.known[text]

    def module(self, path, flags=0, build_id=b""):
        row = struct.pack("<QQQII32sII", 0, 0, 1 << 20, self.string(path), flags, build_id, len(build_id), 0)
        self.modules.append(row)
        return len(self.modules) - 1

    def frame(self, frame):
        """(module, address), ("python", function, file, line), ("jit", name, address), ("behalf", label) or
        "[truncated]"."""
        if frame == "[truncated]":
            row = (4, 0, 0, 0, 0)
        elif frame[0] == "python":
            row = (2, self.string(frame[1]), self.string(frame[2]), 0, frame[3])
        elif frame[0] == "behalf":
            row = (5, self.string(frame[1]), 0, 0, 0)
        elif frame[0] == "jit":
            row = (3, UNKNOWN, self.string(frame[1]), 0, frame[2])
        else:
            row = (1, frame[0], 0, 0, frame[1])
        raw = struct.pack("<IIIIQ", *row)
        if raw not in self.frames:
            self.frames.append(raw)
        return self.frames.index(raw)

    def stack(self, *frames):
        """The node of a stack given leaf first."""
        node = 0
        for frame in reversed(frames):
            raw = struct.pack("<II", node, self.frame(frame))
            if raw not in self.known_nodes:
                self.nodes.append(raw)
                self.known_nodes[raw] = len(self.nodes) - 1
            node = self.known_nodes[raw]
        return node

    def site(self, node, kind="heap", flags=0, calls=(0, 0, 0, 0), live=(0, 0), peak=(0, 0), owner=0):
        """calls: allocations, frees, temporaries, allocated bytes; live and peak: bytes, blocks."""
        self.site_owners.append(owner)
        self.sites.append(struct.pack("<IHH8Q", node, KINDS.index(kind), flags, *calls, *live, *peak))
        return len(self.sites) - 1

    def leak(self, site, direct=(0, 0), indirect=(0, 0)):
        self.leaks.append(struct.pack("<IIQQQQ", site, 0, *direct, *indirect))

    def size(self, up_to, allocations, size):
        self.sizes.append(struct.pack("<QQQ", up_to, allocations, size))

    def sample(self, at_ns, rss=0, **live):
        self.samples.append(struct.pack("<Q6QQ", at_ns, *(live.get(kind, 0) for kind in KINDS), rss))

    def thread(self, tid, name, allocations):
        self.threads.append(struct.pack("<IIQ", tid, self.string(name), allocations))
        return len(self.threads) - 1

    def owner(self, tid, name):
        """A thread that sites belong to."""
        self.owners.append(struct.pack("<II", tid, self.string(name)))
        return len(self.owners) - 1

    def holder(self, site, *links):
        """links: (kind number, ref, frame, address)."""
        self.holders.append(struct.pack("<IIII", site, len(self.links), len(links), 0))
        self.links += [struct.pack("<IIIIQ", kind, ref, frame, 0, address) for kind, ref, frame, address in links]

    def type(self, site, name, blocks, size):
        self.types.append(struct.pack("<IIQQ", site, self.string(name), blocks, size))

    def lost_type(self, site, name, blocks, size):
        self.lost_types.append(struct.pack("<IIQQ", site, self.string(name), blocks, size))

    def note(self, text):
        self.notes.append(struct.pack("<I", self.string(text)))

    def mark(self, name, at_ns, live):
        """Later than all others."""
        row = self.mark_names.setdefault(self.string(name), [len(self.mark_names), 0, at_ns, at_ns, live, live])
        row[1], row[3], row[5] = row[1] + 1, at_ns, live
        self.marks.append(struct.pack("<IIQQ", row[0], 0, at_ns, live))

    def called(self, allocations, temporaries):
        """Up to the next sample: one for each sample, or none."""
        self.calls.append(struct.pack("<QQ", allocations, temporaries))

    def curve(self, site, values):
        self.curves.append((site, values))

    def sections(self, curve_points=()):
        """{id: bytes}, to be changed at will before file_bytes."""
        p = self.process
        argv = len(self.strings)
        self.strings += b"".join((a if isinstance(a, bytes) else a.encode()) + b"\0" for a in p["argv"])
        kinds = b"".join(struct.pack("<7Q", *p["kinds"].get(kind, (0,) * 7)) for kind in KINDS)
        head = struct.pack("<12I", p["pid"], p["ppid"], p["image"], p["flags"], REASONS.index(p["reason"]),
                           p["signal"], self.string(p["exe"]), argv, len(p["argv"]), self.string(p["label"]),
                           p["rank"], p["depth"])  # fmt: skip
        head += struct.pack("<10Q", p["started"], p["duration"], p["sample"], p["peak"], p["peak_ns"], p["live"],
                            p["rss"], p["own"], p["arenas"], p["unseen"])  # fmt: skip
        curves = struct.pack("<II", len(curve_points), len(self.curves))
        curves += struct.pack(f"<{len(curve_points)}Q", *curve_points)
        for site, values in self.curves:
            curves += struct.pack(f"<II{len(values)}Q", site, 0, *values)
        rows = {
            MODULES: self.modules,
            FRAMES: self.frames,
            NODES: self.nodes,
            SITES: self.sites,
            LEAKS: self.leaks,
            SIZES: self.sizes,
            TIMELINE: self.samples,
            THREADS: self.threads,
            HOLDERS: self.holders,
            HOLDER_LINKS: self.links,
            NOTES: self.notes,
            MARK_NAMES: [struct.pack("<IIQQQQQ", text, 0, *row[1:]) for text, row in self.mark_names.items()],
            MARKS: self.marks,
            TIMELINE_CALLS: self.calls,
            PYTHON_TYPES: self.types,
            PYTHON_LOST_TYPES: self.lost_types,
        }
        if len(self.owners) > 1:
            rows |= {OWNERS: self.owners, SITE_OWNERS: [struct.pack("<I", owner) for owner in self.site_owners]}
        return {
            PROCESS: head + kinds,
            STRINGS: bytes(self.strings),
            SITE_TIMELINE: curves,
            **{number: b"".join(items) for number, items in rows.items()},
        }

    def data(self, curve_points=(), **how):
        return file_bytes(self.sections(curve_points), **how)


def demo():
    """A process with something of everything, and nothing that depends on this machine's files."""
    report = Report(argv=["./demo", "1000"], exe="/opt/demo", peak=20_000, peak_ns=1_900_000_000, live=19_328,
                    rss=3_000_000, own=65_536, flags=MAIN | SCANNED | PYTHON,
                    kinds={"heap": (19_328, 201, 19_400, 2001, 1800, 900, 200_000),
                           "python": (600, 6, 600, 6, 0, 0, 600)})  # fmt: skip
    program = report.module("/opt/demo", PROGRAM)
    libc = report.module("/usr/lib/libc.so.6", LIBC)
    main, start = ("python", "main", "/opt/demo.py", 40), (libc, 0x1000)
    parent = report.site(report.stack(("jit", "handle", 0x7F00), main, start), calls=(1000, 900, 0, 128_000),
                         live=(12_800, 100), peak=(12_800, 100))  # fmt: skip
    child = report.site(report.stack((program, 0x1234), main, start), calls=(1000, 900, 900, 64_000),
                        live=(6400, 100), peak=(6400, 100))  # fmt: skip
    cache = report.site(report.stack((program, 0x5678), main, start), calls=(1, 0, 0, 128), live=(128, 1),
                        peak=(128, 1))  # fmt: skip
    objects = report.site(report.stack(("python", "load", "/opt/load.py", 7)), kind="python",
                          calls=(6, 0, 0, 600), live=(600, 6), peak=(600, 6))  # fmt: skip
    report.leak(parent, direct=(12_800, 100))
    report.leak(child, indirect=(6400, 100))
    report.leak(objects, direct=(200, 2))
    report.holder(cache, (1, cache, 0, 0), (2, program, 0, 0x4040))
    report.holder(objects, (5, report.string("Box.data[0]"), 0, 0), (5, report.string("__main__.keep['a']"), 0, 0))
    report.type(objects, "dict", 2, 300)
    report.type(objects, "Box", 2, 100)
    report.size(64, 1000, 64_000)
    report.size(128, 1007, 128_600)
    for i in range(20):
        report.sample(i * 100_000_000, rss=3_000_000, heap=1000 * (i + 1))
        report.called(105 * i + 12, 47 * i + 7)
    report.mark("load", 100_000_000, 2000)
    for i in range(4):
        report.mark("epoch", (400 + 300 * i) * 1_000_000, 5000 + 3000 * i)
    report.curve(parent, [100 * i for i in range(5)])
    report.thread(100, "demo", 2000)
    report.thread(0, "", 7)
    report.note("Something was not seen.")
    return report


DEMO_POINTS = [i * 400_000_000 for i in range(5)]
