// Eight threads, 3000 allocations and frees each: nothing is live at the end.
// build: -lamdhip64 -pthread
// expect none
// expect kind device live 0
// expect kind device allocations 24000
#include "hip.h"

static void *work(void *seed) {
  unsigned state = (unsigned)(size_t)seed * 2654435761u;
  void *held[8] = {0};
  for (int i = 0; i < 3000; i++) {
    state = state * 1664525u + 1013904223u;
    void **slot = &held[state >> 29];
    if (*slot) CHECK(hipFree(*slot));
    CHECK(hipMalloc(slot, 64 + (state >> 12 & 0xfff)));
  }
  for (int i = 0; i < 8; i++) CHECK(hipFree(held[i]));
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  for (size_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return 0;
}
