"""18 million allocations 200 frames down, from three call paths that take turns: a chain of frames for each."""

import gc

FRAMES = 200
ROUNDS = 1_500_000


def numbered(number):
    return [number, f"object {number}"]


def halved(number):
    return (number / 2, str(number))


def one_of(number):
    return numbered(number) if number % 3 else halved(number)


def work():
    kept = [None] * 1000
    for number in range(ROUNDS):
        kept[number % 1000] = (numbered(number), halved(number), one_of(number), {number: number + 0.5})
    return len(kept)


def down(left):
    return down(left - 1) if left else work()


if __name__ == "__main__":
    gc.disable()
    print(down(FRAMES))
