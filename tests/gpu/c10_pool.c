// A stand-in for PyTorch's caching allocator and for libc10, which it reports each tensor to by name: blocks from HIP,
// tensors cut from them. Loaded in a local scope, as Python loads PyTorch.
//
//   pool of 20 MiB:   a 4 MiB | b 6 MiB | c 2 MiB (given back) | the rest unused
//   beside it 3 MiB of the program's own
//
// build: -ldl
// build-library: libc10.so -DC10
// build-library: libc10_hip.so -DC10_HIP -L{out} -l:libc10.so -Wl,-rpath,$ORIGIN -l:libamdhip64.so.6 -L{simhip}
// expect direct 10485760 in 2 at @report kind device
// expect direct 3145728 in 1 at @outside kind device
// expect kind device live 24117248
// expect kind device peak 24117248
// expect peak-row @report bytes 12582912
// expect peak-row @pool bytes 8388608
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MIB (1ul << 20)
#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

struct device {
  int8_t type, index;
};
void REPORT(void *pointer, int64_t bytes, size_t allocated, size_t reserved, struct device device);

#ifdef C10

int64_t reported_bytes; // what PyTorch's own profiler would have heard
void REPORT(void *pointer, int64_t bytes, size_t allocated, size_t reserved, struct device device) {
  if (device.type == 1) reported_bytes += bytes;
}

#elif defined C10_HIP

int hipMalloc(void **pointer, size_t bytes);
static char *pool;
static size_t used;

void *tensor_make(size_t bytes) {
  if (!pool && hipMalloc((void **)&pool, 20 * MIB)) return NULL; // @pool
  char *tensor = pool + used;
  used += bytes;
  REPORT(tensor, (int64_t)bytes, used, 20 * MIB, (struct device){1, 0}); // @report
  return tensor;
}
void tensor_give(void *tensor, size_t bytes) { REPORT(tensor, -(int64_t)bytes, used, 20 * MIB, (struct device){1, 0}); }
void cpu_tensor(void *tensor) { REPORT(tensor, 4096, 0, 0, (struct device){0, -1}); }
int block_make(void **block, size_t bytes) {
  return hipMalloc(block, bytes); // @outside
}

#else

int main(void) {
  void *library = dlopen("libc10_hip.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) return puts(dlerror()), 1;
  void *(*make)(size_t) = (void *(*)(size_t))dlsym(library, "tensor_make");
  void (*give)(void *, size_t) = (void (*)(void *, size_t))dlsym(library, "tensor_give");
  void (*cpu)(void *) = (void (*)(void *))dlsym(library, "cpu_tensor");
  int (*block_make)(void **, size_t) = (int (*)(void **, size_t))dlsym(library, "block_make");
  int64_t *reported = dlsym(library, "reported_bytes");
  void *block, *c;
  make(4 * MIB);
  make(6 * MIB);
  c = make(2 * MIB);
  cpu(&block);
  block_make(&block, 3 * MIB);
  give(c, 2 * MIB);
  return *reported != (int64_t)(10 * MIB);
}

#endif
