// What PyTorch's allocator reports a tensor through: libc10's function, of which heaptide has one in front. Where there
// is no libc10 heaptide's is the only one.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct device {
  int8_t type, index;
};
typedef void (*report_call)(void *, int64_t, size_t, size_t, struct device);

// NULL: not recorded.
static report_call report_find(void) {
  return (report_call)dlsym(RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
}
