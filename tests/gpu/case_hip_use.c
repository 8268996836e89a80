// HIP by dlsym on a library of a local scope and by its own look-up; calls that fail, are refused or do nothing; mixed
// pairs; physical memory and addresses apart. Cases 89, 90 and 91.
// build: -ldl
// build-library: libamdhip64.so case_hip_stub.c
// expect direct 1048576 in 1 at @by_dlsym kind device
// expect direct 2097152 in 1 at @by_name kind device
// expect direct 65536 in 1 at @pinned kind pinned
// expect kind device live 3145728
// expect kind device peak 7340032
// expect kind device allocations 5
#include <dlfcn.h>
#include <stddef.h>
typedef int E;
typedef unsigned long long U;
#define GET(n) __typeof__(&n##_t) n = (__typeof__(n))dlsym(h, #n)
E hipMalloc_t(void **, size_t);
E hipFree_t(void *);
E hipHostMalloc_t(void **, size_t, unsigned);
E hipMallocAsync_t(void **, size_t, void *);
E hipFreeAsync_t(void *, void *);
E hipGetProcAddress_t(const char *, void **, int, U, int *);
E hipMemCreate_t(void **, size_t, const void *, U);
E hipMemRelease_t(void *);
E hipMemAddressReserve_t(void **, size_t, size_t, void *, U);
E hipMemMap_t(void *, size_t, size_t, void *, U);
E hipMemUnmap_t(void *, size_t);
int main(void) {
  void *h = dlopen("./libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
  if (!h) return 77;
  GET(hipMalloc);
  GET(hipFree);
  GET(hipHostMalloc);
  GET(hipMallocAsync);
  GET(hipFreeAsync);
  GET(hipGetProcAddress);
  GET(hipMemCreate);
  GET(hipMemRelease);
  GET(hipMemAddressReserve);
  GET(hipMemMap);
  GET(hipMemUnmap);
  void *a = 0, *b = 0, *c = (void *)0x1234, *p, *va, *ph;
  int st;
  hipMalloc(&a, 1 << 20); // @by_dlsym
  E (*m2)(void **, size_t) = 0;
  hipGetProcAddress("hipMalloc", (void **)&m2, 60000000, 0, &st);
  m2(&b, 2 << 20);                                     // @by_name
  hipHostMalloc(&p, 65536, 0);                         // @pinned
  if (hipMalloc(&c, 1ul << 41) == 0) return 1;         // out of memory: no record, c untouched
  if (hipFree((void *)((size_t)a | 1)) == 0) return 2; // refused: a stays live
  hipFree(0);
  hipMalloc(&c, 0);
  hipFree(c); // legal no-ops
  hipMallocAsync(&c, 4096, 0);
  hipFreeAsync(c, 0);
  hipMallocAsync(&c, 4096, 0);
  hipFree(c); // mixed pair, also legal
  hipMemAddressReserve(&va, 1ul << 30, 0, 0, 0);
  hipMemCreate(&ph, 4 << 20, 0, 0); // 4 MiB physical, 1 GiB virtual
  hipMemMap(va, 4 << 20, 0, ph, 0);
  hipMemUnmap(va, 4 << 20);
  hipMemRelease(ph);
  return 0;
}
