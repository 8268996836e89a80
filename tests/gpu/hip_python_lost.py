"""hip-python, which looks every function up by dlsym."""

from hip import hip


def checked(answer):
    assert answer[0] == hip.hipError_t.hipSuccess, answer
    return answer[1] if len(answer) == 2 else answer[1:]


def lose_device():
    return checked(hip.hipMalloc(1 << 20))  # @device


def lose_pinned():
    return checked(hip.hipHostMalloc(65536, 0))  # @pinned


def lose_async(stream):
    return checked(hip.hipMallocAsync(5000, stream))  # @async


def end_well():
    block = checked(hip.hipMalloc(4096))
    assert hip.hipFree(block)[0] == hip.hipError_t.hipSuccess


end_well()
kept = [lose_device() for _ in range(3)] + [lose_pinned()]
kept.append(lose_async(checked(hip.hipStreamCreate())))
