// Threads for `heaptide top`: as many as the first argument says, each with a name of its own (worker-0 and on). A
// command is a line on stdin, a letter and the numbers that it takes, answered by `done` once it has been carried out:
// a THREAD COUNT has a thread allocate blocks of 1 KiB, f THREAD has it free all that any have, e THREAD has it end.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 256
#define BLOCKS_MAX 100000

static struct worker {
  pthread_t thread;
  sem_t go, done;
  char letter;
  int count;
} workers[THREADS_MAX];
static void *blocks[BLOCKS_MAX]; // one worker at a time
static int block_count;

static void blocks_allocate(int count) {
  while (count-- > 0 && block_count < BLOCKS_MAX) blocks[block_count++] = malloc(1024);
}

static void blocks_free(void) {
  while (block_count > 0) free(blocks[--block_count]);
}

static void *work(void *of) {
  struct worker *worker = of;
  for (;;) {
    while (sem_wait(&worker->go) != 0) continue;
    if (worker->letter == 'e') return NULL;
    if (worker->letter == 'a') blocks_allocate(worker->count);
    if (worker->letter == 'f') blocks_free();
    sem_post(&worker->done);
  }
}

static void worker_start(int number) {
  struct worker *worker = &workers[number];
  char name[16];
  sem_init(&worker->go, 0, 0);
  sem_init(&worker->done, 0, 0);
  pthread_create(&worker->thread, NULL, work, worker);
  snprintf(name, sizeof name, "worker-%d", number);
  pthread_setname_np(worker->thread, name);
}

static void worker_tell(struct worker *worker, char letter, int count) {
  worker->letter = letter;
  worker->count = count;
  sem_post(&worker->go);
  if (letter == 'e') {
    pthread_join(worker->thread, NULL);
    return;
  }
  while (sem_wait(&worker->done) != 0) continue;
}

int main(int argc, char **argv) {
  char line[64], letter;
  int number, count, threads = argc > 1 ? atoi(argv[1]) : 3;
  setvbuf(stdout, NULL, _IOLBF, 4096);
  setvbuf(stdin, NULL, _IONBF, 0);
  for (int i = 0; i < threads && i < THREADS_MAX; i++) worker_start(i);
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    count = 0;
    if (sscanf(line, "%c %d %d", &letter, &number, &count) >= 2) worker_tell(&workers[number], letter, count);
    puts("done");
  }
  return 0;
}
