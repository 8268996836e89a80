"""Four workers of torchrun; the one of rank 2 keeps a tensor of 1 MiB each step."""

import torch
from torch import distributed

STEPS = 20
kept = []


def keep():
    kept.append(torch.ones(256 * 1024))  # @kept


def main():
    distributed.init_process_group("gloo")
    for _ in range(STEPS):
        part = torch.ones(1024)
        distributed.all_reduce(part)
        if distributed.get_rank() == 2:
            keep()
    distributed.barrier()
    distributed.destroy_process_group()


main()
