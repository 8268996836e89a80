// A training loop on a GPU that forgets one activation every fourth step.
//
// Planted: 25 blocks of 1 MiB on the device, lost at the line marked LEAK; the weights (8 MiB) and a page-locked batch
// (256 KiB) are given back. `make demo` runs it on a machine without a GPU, with a stand-in for AMD's runtime; with a
// GPU: hipcc -g gpu.c -o gpu.
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int hipMalloc(void **memory, size_t bytes);
int hipFree(void *memory);
int hipHostMalloc(void **memory, size_t bytes, unsigned flags);
int hipHostFree(void *memory);
int hipStreamCreate(void **stream);
int hipMallocAsync(void **memory, size_t bytes, void *stream);
int hipFreeAsync(void *memory, void *stream);

static void *stream;

static void *activation_make(void) {
  void *activation = NULL;
  hipMallocAsync(&activation, 1 << 20, stream); // LEAK
  return activation;
}

static void step(int number) {
  void *activation = activation_make();
  usleep(10000);
  if (number % 4 != 3) hipFreeAsync(activation, stream);
}

int main(void) {
  void *weights, *batch;
  if (hipMalloc(&weights, 8 << 20)) return puts("no GPU"), 1;
  hipHostMalloc(&batch, 256 << 10, 0);
  hipStreamCreate(&stream);
  for (int number = 0; number < 100; number++) step(number);
  hipHostFree(batch);
  hipFree(weights);
  return 0;
}
