// Captures that end in other ways than by the graph that was wanted. One that broke a rule is over and its memory gone:
// what is allocated on the stream afterwards is nobody's graph's. Each thread's own stream is another than the default.
// simulated: 6
// expect direct 2097152 in 1 at @behind_broken kind device
// expect direct 8388608 in 1 at @default kind device
// expect direct 33554432 in 1 at @destroyed kind device
// expect kind device allocations 6
// expect kind device live 44040192
#include "simulated.h"

enum { RELAXED = 2 };
#define STREAM_PER_THREAD ((void *)2)
int hipStreamBeginCapture_spt(void *, int);
int hipStreamEndCapture_spt(void *, void **);

int main(void) {
  void *stream, *graph, *block;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, RELAXED));
  CHECK(hipMallocAsync(&block, 1 << 20, stream));
  REFUSE(hipStreamEndCapture(stream, &graph));    // hipErrorStreamCaptureInvalidated, on demand
  CHECK(hipMallocAsync(&block, 2 << 20, stream)); // @behind_broken
  CHECK(hipStreamBeginCapture(stream, RELAXED));
  CHECK(hipMallocAsync(&block, 4 << 20, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamBeginCapture_spt(NULL, RELAXED));
  CHECK(hipMallocAsync(&block, 8 << 20, NULL)); // @default
  CHECK(hipMallocAsync(&block, 16 << 20, STREAM_PER_THREAD));
  CHECK(hipStreamEndCapture_spt(NULL, &graph));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamBeginCapture(stream, RELAXED));
  CHECK(hipMallocAsync(&block, 32 << 20, stream)); // @destroyed
  CHECK(hipStreamDestroy(stream));
  usleep(10000);                          // longer than the driver is left alone
  CHECK(hipMallocAsync(&block, 0, NULL)); // no stream is captured: it may be asked
  return 0;
}
