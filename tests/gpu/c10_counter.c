// Counts the reports of PyTorch's allocator, in the place where heaptide's hook stands, and says how many there were.
// build-library: libcounter.so -DCOUNTER
#include <stdint.h>
#include <stdio.h>

#ifdef COUNTER

struct device {
  int8_t type, index;
};
static long calls;

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *pointer, int64_t bytes, size_t allocated,
                                                           size_t reserved, struct device device) {
  calls++;
}
static __attribute__((destructor)) void say(void) { fprintf(stderr, "calls: %ld\n", calls); }

#else

int main(void) { return 0; }

#endif
