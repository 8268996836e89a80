"""The slots of a process that functions are bound in: global offset tables, by the relocations of every mapped file."""

import functools
import struct
from pathlib import Path

DT_PLTRELSZ, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 2, 5, 6, 7, 8, 23
GLOB_DAT, JUMP_SLOT = 6, 7
PT_LOAD, PT_DYNAMIC = 1, 2


def strings_at(data, start):
    return data[start : data.index(b"\0", start)].decode()


class Elf:
    """What a 64-bit ELF file says of its slots, and which functions it defines."""

    def __init__(self, data):
        (headers_at,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", data, headers_at + size * i) for i in range(count)]
        self.loads = [(at, address, stored) for kind, _, at, address, _, stored, _, _ in headers if kind == PT_LOAD]
        self.slots, self.defined, self.data = [], set(), data
        for kind, _, at, _, _, stored, _, _ in headers:
            if kind == PT_DYNAMIC:
                self.read(dict(struct.iter_unpack("<QQ", data[at : at + stored // 16 * 16])))

    def place(self, address):
        return next(at + address - start for at, start, stored in self.loads if start <= address < start + stored)

    def read(self, dynamic):
        if DT_SYMTAB not in dynamic:
            return
        names, symbols = self.place(dynamic[DT_STRTAB]), self.place(dynamic[DT_SYMTAB])
        for at in range(symbols, names - 23, 24):  # every linker puts the strings behind the symbols
            name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", self.data, at)
            if section:
                self.defined.add(strings_at(self.data, names + name))
        for table, size in ((DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)):
            start = self.place(dynamic[table]) if table in dynamic else 0
            for at in range(start, start + dynamic.get(size, 0) if start else 0, 24):
                offset, info, _ = struct.unpack_from("<QQq", self.data, at)
                if info & 0xFFFFFFFF in (GLOB_DAT, JUMP_SLOT):
                    (name,) = struct.unpack_from("<I", self.data, symbols + 24 * (info >> 32))
                    self.slots.append((offset, strings_at(self.data, names + name)))


@functools.cache
def elf_of(path):
    """None: not an ELF file."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    return Elf(data) if data[:5] == b"\x7fELF\x02" else None


class Slots:
    """All of a process that runs, but for heaptide's own: {(file, offset, symbol): what it holds}."""

    def __init__(self, pid):
        self.modules, self.held = {}, {}  # modules: {path: [(start, end)]}
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, _, _, _, _, *path = line.split(maxsplit=5)
            if path and path[0].startswith("/"):
                self.modules.setdefault(path[0], []).append(tuple(int(part, 16) for part in place.split("-")))
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for path, spans in self.modules.items():
                elf = elf_of(path)
                if not elf or "libheaptide" in path or not elf.slots:
                    continue
                base = spans[0][0] - elf.loads[0][1] // 4096 * 4096
                for offset, name in elf.slots:
                    memory.seek(base + offset)
                    self.held[path, offset, name] = memory.read(8)

    def module_of(self, value):
        address = int.from_bytes(value, "little")
        return next((path for path, spans in self.modules.items() if any(low <= address < high for low, high in spans)),
                    None)  # fmt: skip

    def changed_since(self, before):
        """What differs, but for slots that led to their module's own stub and that the loader has bound since to a
        library that defines the function."""

        def was_bound(key, value):
            target = self.module_of(value)
            return (before.module_of(before.held[key]) == key[0] and target and "libheaptide" not in target
                    and key[2] in elf_of(target).defined)  # fmt: skip

        return {
            key: (before.held[key].hex(), value.hex())
            for key, value in self.held.items()
            if key in before.held and value != before.held[key] and not was_bound(key, value)
        }

    def led_to_heaptide(self):
        return {key for key, value in self.held.items() if "libheaptide" in (self.module_of(value) or "")}
