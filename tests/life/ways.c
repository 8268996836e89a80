// Loses 4096 bytes and ends in the way that is named.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../planted/planted.h"

extern char **environ;

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(4096); // 4096 lost
  lost[0] = 1;
}

static void *leave(void *status) {
  exit((int)(long)status);
  return NULL;
}

static void execute(const char *way) {
  char *words[] = {"true", NULL};
  int program = open("/bin/true", O_RDONLY), folder = open("/bin", O_PATH);
  if (!strcmp(way, "execve")) execve("/bin/true", words, environ);
  if (!strcmp(way, "fexecve")) fexecve(program, words, environ);
  if (!strcmp(way, "execveat")) execveat(folder, "true", words, environ, 0);
  if (!strcmp(way, "execveat of a descriptor")) execveat(program, "", words, environ, AT_EMPTY_PATH);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  pthread_t thread;
  lose();
  stack_scrub();
  if (!strcmp(way, "exit")) exit(41);
  if (!strcmp(way, "_exit")) _exit(42);
  if (!strcmp(way, "_Exit")) _Exit(43);
  if (!strcmp(way, "quick_exit")) quick_exit(44);
  if (!strcmp(way, "exit in a thread") && pthread_create(&thread, NULL, leave, (void *)45) == 0) pause();
  if (!strcmp(way, "pthread_exit")) pthread_exit(NULL);
  if (!strncmp(way, "SIG", 3)) kill(getpid(), atoi(way + 3));
  execute(way);
  return 40;
}
