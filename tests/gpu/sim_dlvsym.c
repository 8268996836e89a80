// Functions that are looked up with their version. HIP's are wrapped as dlsym's are; one that is not there in that
// version stays away; whoever asks for the next one behind itself gets that.
// simulated: 6
// build: -ldl
// expect direct 1048576 in 1 at @by_default kind device
// expect direct 2097152 in 1 at @by_handle kind device
// expect direct 4194304 in 1 at @by_next kind device
// expect kind device allocations 4
#define _GNU_SOURCE
#include "simulated.h"
#include <dlfcn.h>

typedef int (*make_call)(void **, size_t);
typedef int (*free_call)(void *);

int main(void) {
  void *block, *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
  CHECK(!library);
  make_call by_default = (make_call)dlvsym(RTLD_DEFAULT, "hipMalloc", "hip_4.2");
  make_call by_handle = (make_call)dlvsym(library, "hipMalloc", "hip_4.2");
  make_call by_next = (make_call)dlvsym(RTLD_NEXT, "hipMalloc", "hip_4.2");
  free_call give = (free_call)dlvsym(library, "hipFree", "hip_4.2");
  CHECK(!by_default || by_default != by_handle || by_handle != by_next || !give);
  CHECK(dlerror() != NULL);
  CHECK(dlvsym(RTLD_DEFAULT, "hipMalloc", "hip_99") != NULL || dlvsym(library, "hipMalloc", "hip_99") != NULL);
  CHECK(dlerror() == NULL);
  CHECK(dlvsym(library, "hipNoSuchFunction", "hip_4.2") != NULL);
  CHECK(dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5") == NULL || dlvsym(RTLD_NEXT, "dlvsym", "GLIBC_2.34") == NULL);
  CHECK(by_default(&block, 1 << 20)); // @by_default
  CHECK(by_handle(&block, 2 << 20));  // @by_handle
  CHECK(by_next(&block, 4 << 20));    // @by_next
  CHECK(hipMalloc(&block, 4096));     // bound, so that the library is there from the beginning
  CHECK(give(block));
  return 0;
}
