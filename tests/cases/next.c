// gcc -g next.c -o next -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void *(*m)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");  // must not be our caller's NEXT
  void *absent = dlsym(RTLD_DEFAULT, "hipMalloc");                      // no HIP here: must stay NULL
  volatile char *p = m(4096); p[0] = 1;                                 // lost
  void *v1 = dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5");
  printf("%d %d\n", absent == NULL, v1 != NULL);
  return absent != NULL;
}
