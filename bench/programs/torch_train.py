"""Trains a small model of PyTorch's on the CPU for a number of steps; prints the seconds of CPU time and the loss."""

import sys
import time

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs, targets = torch.randn(64, 256), torch.randn(64, 64)
begin = time.process_time()
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    loss = ((model(inputs) - targets) ** 2).mean()
    loss.backward()
    optimizer.step()
print(f"{time.process_time() - begin:.3f} {float(loss.detach()):.6f}")
