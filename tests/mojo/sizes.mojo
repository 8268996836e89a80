# Every size from 1 byte up, kept in a chain, lost, and given back: what stays in a chain is reached through the blocks.
from std.memory import alloc, Layout


@no_inline
def lose(count: Int) -> Int:
    var block = alloc(Layout[UInt8](count=count)).unsafe_leak()  # @lose
    for i in range(count):  # a block given back before holds the allocator's links
        block[unsafe_offset=i] = UInt8(count % 251)
    return Int(block[unsafe_offset=count - 1]) ^ (Int(block) & 1)


# A block that holds the address of the one before.
@no_inline
def chain(before: Int, count: Int) -> Int:
    var block = alloc(Layout[Int](count=count)).unsafe_leak()  # @chain
    for i in range(count):
        block[unsafe_offset=i] = before
    return Int(block)


@no_inline
def give_back(count: Int) -> Int:
    var list = List[UInt8](capacity=count)
    list.append(UInt8(count % 251))
    return Int(list[0])


def main():
    var sum = 0
    for count in range(1, 101):
        sum += lose(count)
        sum += give_back(count)
    var lost = 0
    for _ in range(10):
        lost = chain(lost, 4)
    print("sum", sum, lost & 1)
