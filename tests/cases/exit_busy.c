// gcc -g -pthread exit_busy.c -o exit_busy
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *churn(void *a) {
  for (;;) { void *p[100]; for (int i = 0; i < 100; i++) p[i] = malloc(1 + i * 37);
             for (int i = 0; i < 100; i++) free(p[i]); }
  return a;
}
static void *born(void *a) { for (;;) { pthread_t t; if (!pthread_create(&t, 0, (void *(*)(void *))free, 0)) pthread_detach(t); } return a; }
int main(void) {
  pthread_t t;
  for (int i = 0; i < 4; i++) { pthread_create(&t, 0, churn, 0); pthread_detach(t); }
  pthread_create(&t, 0, born, 0); pthread_detach(t);     // threads are created while we exit
  usleep(200000); return 0;
}
