// gcc -g -pthread ways_out.c -o ways_out ; ./ways_out {return|exit|_exit|quick|abort|segv|term|kill|pthread|exec|thread_exit}
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// What was left below main's frame, by the dynamic linker for example, may become part of pause's.
static __attribute__((noinline)) void scrub(void) { volatile char dead[32768]; for (unsigned i = 0; i < sizeof dead; i++) dead[i] = 0; }
static void *leave(void *a) { exit(0); return a; }
int main(int c, char **v) {
  volatile char *p = malloc(4096); p[0] = 1; p = 0;           // 4096 lost
  scrub();
  const char *w = c > 1 ? v[1] : "return"; pthread_t t;
  if (!strcmp(w, "exit")) exit(0);
  if (!strcmp(w, "_exit")) _exit(0);
  if (!strcmp(w, "quick")) quick_exit(0);
  if (!strcmp(w, "abort")) abort();
  if (!strcmp(w, "segv")) raise(SIGSEGV);
  if (!strcmp(w, "term")) raise(SIGTERM);
  if (!strcmp(w, "kill")) raise(SIGKILL);
  if (!strcmp(w, "pthread")) pthread_exit(0);                 // last thread ends the process
  if (!strcmp(w, "exec")) execl("/bin/true", "true", (char *)0);
  if (!strcmp(w, "thread_exit")) { pthread_create(&t, 0, leave, 0); pause(); }
  return 0;
}
