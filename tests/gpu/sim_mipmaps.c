// Arrays of several levels, each half of the one before: 2688 texels of four bytes and 9216 of two. Each kind once
// freed by either function, then lost.
// simulated: 6
// expect direct 10752 in 1 at @floats kind device
// expect direct 18432 in 1 at @halves kind device
// expect kind device live 29184
// expect kind device peak 29184
// expect kind device allocations 4
#include "simulated.h"

struct extent {
  size_t width, height, depth;
};
struct channel_format {
  int bits[4], kind;
};
struct descriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
int hipMallocMipmappedArray(void **, const struct channel_format *, struct extent, unsigned, unsigned);
int hipMipmappedArrayCreate(void **, struct descriptor *, unsigned);
int hipFreeMipmappedArray(void *);
int hipMipmappedArrayDestroy(void *);

#define HALF 16 // HIP_AD_FORMAT_HALF

int main(void) {
  struct channel_format floats = {{32, 0, 0, 0}, 2};
  struct descriptor halves = {.width = 64, .height = 32, .depth = 4, .format = HALF, .channels = 1};
  void *one, *two;
  for (int i = 0; i < 2; i++) {
    CHECK(hipMallocMipmappedArray(&one, &floats, (struct extent){64, 32, 0}, 3, 0)); // @floats
    CHECK(hipMipmappedArrayCreate(&two, &halves, 2));                                // @halves
    if (i == 1) break;
    CHECK(hipFreeMipmappedArray(two));
    CHECK(hipMipmappedArrayDestroy(one));
    REFUSE(hipFreeMipmappedArray(one));
  }
  return 0;
}
