"""A small training loop with one planted leak: 160 snapshots of 512 KiB each that nothing can reach any more.

    heaptide run --py python examples/train.py
    heaptide report

Every 10th of 1600 steps keeps a copy of the 256 x 256 activations in a Snapshot. A snapshot and its note point to each
other, so counting references never frees them, and the cycle collector that would is switched off, as training
loops like to do. The report has to name the line marked LEAK with 160 blocks of at least 524288 bytes.
"""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on matrices this small, threads only wait for each other

import numpy as np  # noqa: E402

STEPS = 1600
SNAPSHOT_EVERY = 10


class Note:
    """What a snapshot was taken for."""

    def __init__(self, snapshot, step):
        self.snapshot = snapshot
        self.step = step


class Snapshot:
    """A copy of some activations and the note that goes with it."""

    def __init__(self, step, activations):
        self.values = activations.tobytes()  # LEAK: 524288 bytes and a header each time
        self.note = Note(self, step)


def make_data(rng):
    """256 samples of 128 features, and what a hidden linear rule says of each."""
    samples = rng.standard_normal((256, 128))
    return samples, samples @ rng.standard_normal((128, 1))


def train_step(samples, targets, hidden, output, rate=0.001):
    """One step of gradient descent on a network with one hidden layer, in place. Returns activations and loss."""
    activations = np.maximum(samples @ hidden, 0.0)
    error = activations @ output - targets
    back = (error @ output.T) * (activations > 0.0)
    output -= rate * (activations.T @ error) / len(samples)
    hidden -= rate * (samples.T @ back) / len(samples)
    return activations, float(np.mean(error**2))


def main():
    gc.disable()
    rng = np.random.default_rng(7)
    samples, targets = make_data(rng)
    hidden = rng.standard_normal((128, 256)) * 0.1
    output = rng.standard_normal((256, 1)) * 0.1
    first_loss = None
    for step in range(STEPS):
        activations, loss = train_step(samples, targets, hidden, output)
        first_loss = first_loss or loss
        if step % SNAPSHOT_EVERY == 0:
            Snapshot(step, activations)
    print(f"loss {first_loss:.2f} -> {loss:.2f} after {STEPS} steps")


if __name__ == "__main__":
    main()
