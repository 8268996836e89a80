// Loses 4096 bytes and crashes in the way that is named.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../planted/planted.h"

static volatile int zero, seven = 7;

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(4096); // 4096 lost
  lost[0] = 1;
}

static __attribute__((noinline)) int overflow(int depth) {
  volatile char frame[512];
  for (size_t i = 0; i < sizeof frame; i++) frame[i] = (char)depth;
  return overflow(depth + 1) + frame[3];
}

static void *overflow_thread(void *unused) {
  free(malloc(10));
  return (void *)(long)overflow(unused != NULL);
}

static void bus(void) {
  FILE *file = tmpfile();
  char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
  zero = page[0]; // behind the file's end
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  pthread_t thread;
  lose();
  stack_scrub(); // what the dynamic linker saved there hides it or not, by the processor's kind
  if (!strcmp(way, "segv")) *(volatile int *)8 = 1;
  if (!strcmp(way, "fpe")) return seven / zero;
  if (!strcmp(way, "ill")) __asm__("ud2");
  if (!strcmp(way, "bus")) bus();
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "sent")) kill(getpid(), SIGBUS);
  if (!strcmp(way, "overflow")) return overflow(0);
  if (!strcmp(way, "thread") && pthread_create(&thread, NULL, overflow_thread, NULL) == 0) pthread_join(thread, NULL);
  return 0;
}
