// A stack in memory of the program's own is its memory again when the thread has ended: here a table that holds blocks,
// in a mapping that nobody saw being made.
// build: -pthread
// expect none
#include "planted.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TABLE_BYTES (1 << 18)

static void **table;

static void *thread_run(void *unused) { return unused; }

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  table = (void **)syscall(SYS_mmap, NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, table, TABLE_BYTES);
  pthread_create(&thread, &attributes, thread_run, NULL);
  pthread_join(thread, NULL);
  for (size_t i = 0; i < 100; i++) table[i] = malloc(5000);
  stack_scrub();
  return 0;
}
