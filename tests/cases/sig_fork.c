// A timer's handler maps memory in the parent, then in its forked child, wherever it finds the thread at work.
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MAPPINGS = 400 };
static volatile long hits;
static void handler(int number) {
  if (hits < MAPPINGS) mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), hits++;
  (void)number;
}
static void work(void) {
  struct itimerval on = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &on, 0);
  for (hits = 0; hits < MAPPINGS;)
    for (int i = 0; i < 1000; i++) free(malloc(i));
  setitimer(ITIMER_REAL, &off, 0);
}
int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  work();
  int status;
  pid_t child = fork();
  if (child == 0) return work(), 0;
  waitpid(child, &status, 0);
  return status;
}
