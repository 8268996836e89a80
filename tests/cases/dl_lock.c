// gcc -g -pthread dl_lock.c -o dl_lock -ldl      (must exit within a second)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int cb(struct dl_phdr_info *i, size_t n, void *a) { (void)i; (void)n; (void)a; free(malloc(50)); usleep(1000); return 0; }
static void *walk(void *a) { for (;;) dl_iterate_phdr(cb, 0); return a; }       // holds the loader lock
static void *load(void *a) { for (;;) { void *h = dlopen("libm.so.6", RTLD_NOW); free(malloc(99)); dlclose(h); } return a; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, walk, 0); pthread_create(&t, 0, load, 0);
  for (int i = 0; i < 2000; i++) free(malloc(i));     // unwinding wants the same lock
  usleep(100000); return 0;
}
