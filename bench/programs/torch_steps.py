"""Trains a model of PyTorch's on the CPU, one turn at a time: for each line on stdin a step (of 20 to 50 ms), for which
it answers with the nanoseconds of CPU time that the process used in it. The end of stdin ends it.

torch_steps.py dense|conv|encoder|small|profiled [SLOWER]

SLOWER: after each step it is busy for that share of the step's time (0.03: 3 %), to see whether a bench tells it.
"""

import os
import sys
import time

os.environ["KINETO_LOG_LEVEL"] = "99"  # the profiler says on stderr that it starts and stops
import torch  # noqa: E402

functional = torch.nn.functional


def dense():
    """Fully connected layers of a thousand units, SGD: few operations, each with much to compute."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    inputs, targets = torch.randn(128, 1024), torch.randint(0, 10, (128,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return training(model, inputs, lambda output: functional.cross_entropy(output, targets), optimizer)


def conv():
    """A small image classifier, as a real program has it: convolutions, normalization, pooling, Adam."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    inputs, targets = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    return training(model, inputs, lambda output: functional.cross_entropy(output, targets))


def encoder():
    """A layer of a transformer: attention, normalization, a feed-forward net, Adam."""
    model = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    inputs, targets = torch.randn(12, 64, 128), torch.randn(12, 64, 128)
    return training(model, inputs, lambda output: functional.mse_loss(output, targets))


def profiled():
    """The encoder under PyTorch's own profiler, for which c10 reports every tensor of the CPU too."""
    inner = encoder()

    def step():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True):
            inner()

    return step


def small():
    """The worst case: tensors of some bytes each, so that PyTorch does little but make and free them."""
    model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(8)))
    step = training(model, torch.randn(4, 8), lambda output: output.square().mean())

    def steps():
        for _ in range(25):
            step()

    return steps


def training(model, inputs, loss_of, optimizer=None):
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.001)

    def step():
        optimizer.zero_grad()
        loss_of(model(inputs)).backward()
        optimizer.step()

    return step


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = {program.__name__: program for program in (dense, conv, encoder, small, profiled)}[sys.argv[1]]()
    slower = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    for _ in sys.stdin:
        begin = time.process_time_ns()
        step()
        if slower:
            end = begin + (time.process_time_ns() - begin) * (1 + slower)
            while time.process_time_ns() < end:
                pass
        print(time.process_time_ns() - begin, flush=True)


if __name__ == "__main__":
    main()
