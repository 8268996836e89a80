"""A closure's cell is made before its function's first line: it is its caller's, each time that one's."""


def keeper(number):
    return lambda: number


kept = []
for _ in range(1000):
    kept.append(keeper(None))  # @first
for _ in range(1000):
    kept.append(keeper(None))  # @second
