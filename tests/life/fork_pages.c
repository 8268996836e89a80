// Copy-on-write: 64 MiB that are written to before four workers are forked; two of these write to half of it. All live
// until all have done their part and stdin has ended, and end in the order of their numbers, the parent last. With an
// argument the parent has read, but not written to, 64 MiB more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TABLE_BYTES (64ul << 20)
#define WORKERS 4

static char *table;
static const char *volatile only_read; // the kernel's page of zeros, over and over

static void table_build(void) {
  table = malloc(TABLE_BYTES);
  memset(table, 1, TABLE_BYTES);
}

static int table_of_zeros_read(void) {
  int sum = 0;
  only_read = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; at < TABLE_BYTES; at += 4096) sum += only_read[at];
  return sum;
}

static void *workers_own; // a process that allocates nothing is not there for a snapshot

static void worker_run(int number, int done, int end) {
  char byte;
  workers_own = malloc(1000);
  if (number < 2) memset(table + number * TABLE_BYTES / 2, 2, TABLE_BYTES / 2);
  if (write(done, "d", 1) != 1 || read(end, &byte, 1) != 1) abort();
  exit(0);
}

int main(int argc, char **argv) {
  (void)argv;
  int done[2], ends[WORKERS][2];
  pid_t workers[WORKERS];
  char byte;
  table_build();
  if (argc > 1 && table_of_zeros_read() != 0) abort();
  if (pipe(done) != 0) abort();
  for (int i = 0; i < WORKERS; i++) {
    if (pipe(ends[i]) != 0) abort();
    workers[i] = fork();
    if (workers[i] == 0) worker_run(i, done[1], ends[i][0]);
  }
  for (int i = 0; i < WORKERS; i++)
    if (read(done[0], &byte, 1) != 1) abort();
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) continue;
  for (int i = 0; i < WORKERS; i++) {
    if (write(ends[i][1], "e", 1) != 1) abort();
    waitpid(workers[i], NULL, 0);
  }
  return table[0] != 1;
}
