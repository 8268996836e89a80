// Loses a block to which only memory of the dynamic loader's own points, as its variables still do to the library cache
// that it has unmapped, where a later block may lie.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The last word of the loader's data, behind its variables.
static uintptr_t *last_word(void) {
  char line[512];
  unsigned long start, end, found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, " rw-p ") && strstr(line, "/ld-linux") && sscanf(line, "%lx-%lx", &start, &end) == 2) found = end;
  if (maps) fclose(maps);
  return found ? (uintptr_t *)found - 1 : NULL;
}

// In a thread of its own, whose stack is gone with all that it held.
static void *lose(void *unused) {
  uintptr_t *word = last_word();
  if (word && !*word) *word = (uintptr_t)malloc(1 << 20); // lost
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, lose, NULL);
  pthread_join(thread, NULL);
  return 0;
}
