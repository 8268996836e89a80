// gcc -g -O0 -pthread stacks.c -o stacks        (131072 distinct stacks, then 100000 frames, then tiny stacks)
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
static void *keep[1 << 17]; static int n;
static void R(int d); static void Lf(int d) { if (d) { Lf(d - 1); R(d - 1); } else keep[n++] = malloc(24); }
static void R(int d) { if (d) { Lf(d - 1); R(d - 1); } else keep[n++] = malloc(40); }
static int deep(int d) { volatile char pad[16]; pad[0] = 1; if (d == 0) { free(malloc(64)); return 0; } return deep(d - 1) + pad[0]; }
static void *tiny(void *a) { for (int i = 0; i < 1000; i++) free(malloc(i)); return a; }
int main(void) {
  Lf(16); R(16);
  deep(90000);
  pthread_attr_t at; pthread_attr_init(&at); pthread_attr_setstacksize(&at, PTHREAD_STACK_MIN);
  pthread_t t; for (int i = 0; i < 3000; i++) { if (pthread_create(&t, &at, tiny, 0)) return 1; pthread_join(t, 0); }
  return 0;
}
