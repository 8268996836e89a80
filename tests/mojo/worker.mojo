# Loses 100 blocks of 40 KiB in threads of Mojo's runtime.
from max.algorithm import parallelize
from std.memory import alloc, Layout


@no_inline
def leak_one(salt: Int) -> Int:
    var block = alloc(Layout[UInt8](count=40960)).unsafe_leak()  # @leak
    block[unsafe_offset=salt % 40960] = UInt8(salt % 251)
    return Int(block[unsafe_offset=salt % 40960]) ^ (Int(block) & 1)


def work(salt: Int):
    _ = leak_one(salt)


def main():
    parallelize(work, 100, 4)
    print("done")
