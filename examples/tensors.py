"""A training loop that loses memory of an AMD GPU: docs/tutorial-tensors.md finds out where.

Tensor stands in for a framework's tensors: it owns device memory and gives it back when nothing refers to it any more.
Every step makes activations, which go, and a loss, of which the loop means to keep the number.

python examples/tensors.py [--fixed]
"""

import argparse
import ctypes
import time

STEPS = 100
ACTIVATION_BYTES = 4 << 20
LOSS_BYTES = 256 << 10


history = []


def runtime():
    """ROCm's runtime, in the newest version that is there."""
    for name in ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise SystemExit("no HIP runtime here: install ROCm")


hip = runtime()


class Tensor:
    def __init__(self, count):
        self.address = ctypes.c_void_p()
        self.bytes = count
        if hip.hipMalloc(ctypes.byref(self.address), ctypes.c_size_t(count)):
            raise MemoryError(f"no {count} bytes left on the device")

    def __del__(self):
        hip.hipFree(self.address)

    def item(self):
        """The number that a tensor of one element holds."""
        return float(self.bytes)


def forward():
    return Tensor(ACTIVATION_BYTES)


def loss_of(activations):
    return Tensor(LOSS_BYTES)  # LOST


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="keep the losses' numbers instead of the losses")
    arguments = parser.parse_args()
    for _ in range(STEPS):
        activations = forward()
        loss = loss_of(activations)
        history.append(loss.item() if arguments.fixed else loss)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
