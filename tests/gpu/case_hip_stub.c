// A stand-in of a page for the HIP runtime, which calls itself and takes its memory from malloc: enough to test hooks
// with. Cases 89 to 91, with case_hip_use.c.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
typedef int E;
typedef unsigned long long U;
E hipMalloc(void **p, size_t n) {
  if (n > 1ul << 40) return 2;
  *p = malloc(n);
  return 0;
}
E hipFree(void *p) {
  if ((size_t)p & 1) return 1;
  free(p);
  return 0;
}
E hipHostMalloc(void **p, size_t n, unsigned f) {
  (void)f;
  return hipMalloc(p, n);
}
E hipHostFree(void *p) { return hipFree(p); }
E hipMallocManaged(void **p, size_t n, unsigned f) {
  (void)f;
  return hipMalloc(p, n);
}
E hipMallocAsync(void **p, size_t n, void *s) {
  (void)s;
  return hipMalloc(p, n);
}
E hipFreeAsync(void *p, void *s) {
  (void)s;
  return hipFree(p);
}
E hipMallocPitch(void **p, size_t *pi, size_t w, size_t h) {
  *pi = (w + 255) & ~255ul;
  return hipMalloc(p, *pi * h);
}
E hipMemAddressReserve(void **p, size_t n, size_t a, void *h, U f) {
  (void)a;
  (void)h;
  (void)f;
  (void)n;
  *p = (void *)0x700000000000;
  return 0;
}
E hipMemAddressFree(void *p, size_t n) {
  (void)p;
  (void)n;
  return 0;
}
E hipMemCreate(void **h, size_t n, const void *pr, U f) {
  (void)pr;
  (void)f;
  return hipMalloc(h, n ? 64 : 0);
}
E hipMemRelease(void *h) { return hipFree(h); }
E hipMemMap(void *p, size_t n, size_t o, void *h, U f) {
  (void)p;
  (void)n;
  (void)o;
  (void)h;
  (void)f;
  return 0;
}
E hipMemUnmap(void *p, size_t n) {
  (void)p;
  (void)n;
  return 0;
}
E hipGetProcAddress(const char *s, void **f, int v, U fl, int *st) {
  (void)v;
  (void)fl;
  Dl_info i;
  dladdr((void *)hipMalloc, &i);
  void *me = dlopen(i.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *f = dlsym(me, s);
  if (st) *st = !*f;
  return *f ? 0 : 500;
}
