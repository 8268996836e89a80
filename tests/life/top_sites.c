// What `heaptide top` is shown: known sites, and more of each when told to. A command is one letter and a newline on
// stdin, answered by `done`: g grows a site by 1 MiB, l by 1000 bytes, c allocates and frees 1000 times, e ends.
#include <stdio.h>
#include <stdlib.h>

static void *held[4], *grown[4096];
static int grown_count;

static void hold_large(void) {
  for (int i = 0; i < 3; i++) held[i] = malloc(1 << 20);
}
static void hold_small(void) { held[3] = malloc(100 << 10); }
static void grow(void) { grown[grown_count++] = malloc(1 << 20); }
static void grow_little(void) { grown[grown_count++] = malloc(1000); }
static void churn(void) {
  for (int i = 0; i < 1000; i++) free(malloc(64));
}

int main(void) {
  char line[16];
  setvbuf(stdout, NULL, _IOLBF, 4096);
  setvbuf(stdin, NULL, _IONBF, 0);
  hold_large();
  hold_small();
  puts("ready");
  while (fgets(line, sizeof line, stdin) && line[0] != 'e') {
    if (line[0] == 'g') grow();
    if (line[0] == 'l') grow_little();
    if (line[0] == 'c') churn();
    puts("done");
  }
  return 0;
}
