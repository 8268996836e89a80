"""A report with very many stacks, to see how heaptide's page does with it. Made at once, with a fixed seed: building it
call by call (make_report.Report) would take minutes."""

import random
import struct

import make_report as maker

FUNCTIONS = 4000
KINDS_USED = 3  # heap, mmap, python
SAMPLES = 1000
POINTS = 48
CURVES = 512
LAST_NS = 60_000_000_000


class Big:
    """A tree of `node_count` nodes in which every leaf is a site; depth up to 60, as in real stacks."""

    def __init__(self, node_count, seed=7):
        self.random = random.Random(seed)
        self.strings = bytearray(b"\0")
        self.frames = [bytes(24)]
        self.frames_make()
        self.parents, self.depths, self.frame_of = [0], [0], [0]
        self.nodes_make(node_count)

    def string(self, text):
        at = len(self.strings)
        self.strings += text.encode() + b"\0"
        return at

    def frames_make(self):
        files = [self.string(f"/opt/service/module_{i}/source_{i}.py") for i in range(200)]
        for i in range(FUNCTIONS):
            name = self.string(f"Class{i % 97}.method_{i}_that_does_something")
            self.frames.append(struct.pack("<IIIIQ", 2, name, files[i % len(files)], 0, i % 900 + 1))

    def nodes_make(self, count):
        """Grows branches: mostly on from the last node, sometimes from another one."""
        at = 0
        for number in range(1, count):
            if self.depths[at] >= 60 or self.random.random() < 0.3:
                at = self.random.randrange(max(0, number - 5000), number)
            self.parents.append(at)
            self.depths.append(self.depths[at] + 1)
            self.frame_of.append(self.random.randrange(1, FUNCTIONS + 1))
            at = number

    def sites(self):
        inner = set(self.parents)
        leaves = [node for node in range(1, len(self.parents)) if node not in inner]
        rows = [bytes(72)]
        for node in leaves:
            size = int(self.random.paretovariate(1.1) * 64)
            blocks = self.random.randrange(1, 50)
            figures = (blocks * 3, blocks * 2, blocks, size * 3, size, blocks, size, blocks)
            rows.append(struct.pack("<IHH8Q", node, node % KINDS_USED, 0, *figures))
        return rows

    def data(self):
        rows = self.sites()
        leaks = [struct.pack("<IIQQQQ", i, 0, 64, 1, 0, 0) for i in range(1, len(rows), 10)]
        report = maker.Report(duration=LAST_NS, peak=1 << 40, live=1 << 39)
        sections = report.sections()
        offset = len(sections[maker.STRINGS])
        own = [self.frames[0]] + [
            struct.pack("<IIIIQ", kind, a + offset, name + offset, spare, line)
            for kind, a, name, spare, line in (struct.unpack("<IIIIQ", raw) for raw in self.frames[1:])
        ]
        nodes = b"".join(struct.pack("<II", *pair) for pair in zip(self.parents, self.frame_of))
        times = [LAST_NS * i // SAMPLES for i in range(SAMPLES)]
        samples = [
            struct.pack("<Q7Q", at, i * 10_000, i * 5000, i * 2000, 0, 0, 0, i * 20_000) for i, at in enumerate(times)
        ]
        points = [LAST_NS * i // POINTS for i in range(POINTS)]
        curves = struct.pack(f"<II{POINTS}Q", POINTS, CURVES, *points)
        for site in range(1, CURVES + 1):
            curves += struct.pack(f"<II{POINTS}Q", site, 0, *(4096 + site * i for i in range(POINTS)))
        sections[maker.STRINGS] += bytes(self.strings)
        sections[maker.FRAMES] = b"".join(own)
        sections[maker.NODES] = nodes
        sections[maker.SITES] = b"".join(rows)
        sections[maker.LEAKS] = b"".join(leaks)
        sections[maker.TIMELINE] = b"".join(samples)
        sections[maker.SITE_TIMELINE] = curves
        return maker.file_bytes(sections, zstd=True)


def big_report(node_count):
    """The bytes of a report file."""
    return Big(node_count).data()
