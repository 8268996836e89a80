// Three named threads, each through the same function: blocks that are lost, blocks that are held, blocks that are
// freed, in different numbers. Then two threads one after the other, and what the argument says:
//   snapshot   one before those two
//   fork       a thread forks, and parent and child allocate
//   many       1100 threads more, one after the other
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../include/heaptide.h"

struct wanted {
  const char *name;
  int lost, held, freed;
};

void *kept[2000];
static int kept_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void *take(size_t bytes) {
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  return block;
}

static void hold(void *block) {
  pthread_mutex_lock(&lock);
  kept[kept_count++] = block;
  pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void work(const struct wanted *wanted) {
  for (int i = 0; i < wanted->lost + wanted->held + wanted->freed; i++) {
    void *block = take(1000);
    if (i < wanted->held)
      hold(block);
    else if (i < wanted->held + wanted->freed)
      free(block);
    block = NULL;
    __asm__ volatile("" : : "r"(block) : "memory");
  }
}

static void clear_stack(void) {
  char space[8192];
  memset(space, 0, sizeof space);
  __asm__ volatile("" : : "r"(space) : "memory");
}

static void *run(void *argument) {
  const struct wanted *wanted = argument;
  pthread_setname_np(pthread_self(), wanted->name);
  work(wanted);
  clear_stack();
  return NULL;
}

static void *fork_and_run(void *argument) {
  pthread_setname_np(pthread_self(), "forker");
  hold(take(500));
  if (fork() == 0) {
    hold(take(70));
    exit(0);
  }
  wait(NULL);
  return argument;
}

static void *hold_one(void *argument) {
  hold(take(10));
  return argument;
}

static void run_alone(void *(*routine)(void *), const void *argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, routine, (void *)argument);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  static const struct wanted together[] = {{"loader", 3, 5, 7}, {"parser", 11, 2, 1}, {"writer", 0, 1, 30}};
  static const struct wanted later[] = {{"early", 0, 4, 0}, {"late", 0, 8, 0}};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run, (void *)&together[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  if (strcmp(way, "snapshot") == 0) heaptide_snapshot("before");
  for (int i = 0; i < 2; i++) run_alone(run, &later[i]); // each has the struct of one that is gone
  if (strcmp(way, "fork") == 0) run_alone(fork_and_run, NULL);
  for (int i = 0; i < 1100 && strcmp(way, "many") == 0; i++) run_alone(hold_one, NULL);
  return 0;
}
