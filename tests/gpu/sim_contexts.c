// The device of the thread at each call, whatever made it so: contexts have devices, too.
// simulated: 6
// expect direct 1024 in 1 at @zero kind device
// expect direct 10240 in 4 at @one kind device
#include "simulated.h"

int hipCtxCreate(void **, unsigned, int);
int hipCtxDestroy(void *);
int hipCtxSetCurrent(void *);
int hipCtxPushCurrent(void *);
int hipCtxPopCurrent(void **);
int hipDevicePrimaryCtxRetain(void **, int);

static NOINLINE void on_one(size_t bytes) {
  void *block;
  CHECK(hipMalloc(&block, bytes)); // @one
}

int main(void) {
  void *block, *zero, *one, *made, *popped;
  CHECK(hipDevicePrimaryCtxRetain(&zero, 0));
  CHECK(hipDevicePrimaryCtxRetain(&one, 1));
  CHECK(hipCtxSetCurrent(one));
  on_one(1024);
  CHECK(hipCtxSetCurrent(zero));
  CHECK(hipCtxPushCurrent(one));
  on_one(2048);
  CHECK(hipCtxPopCurrent(&popped));
  CHECK(hipMalloc(&block, 1024)); // @zero
  CHECK(hipCtxCreate(&made, 0, 1));
  on_one(3072);
  CHECK(hipCtxDestroy(made));
  REFUSE(hipCtxSetCurrent((void *)0x9999));
  CHECK(hipCtxSetCurrent(zero));
  CHECK(hipSetDevice(1)); // what is set last counts
  on_one(4096);
  return 0;
}
