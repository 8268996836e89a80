# Loses 100 blocks of 40 KiB: built, and by `mojo run`.
from std.memory import alloc, Layout


@no_inline
def leak_one(salt: Int) -> Int:
    var block = alloc(Layout[UInt8](count=40960)).unsafe_leak()  # @leak
    block[unsafe_offset=salt % 40960] = UInt8(salt % 251)
    return Int(block[unsafe_offset=salt % 40960]) ^ (Int(block) & 1)


def main():
    var sum = 0
    for i in range(100):
        sum += leak_one(i)
    print("sum", sum)
