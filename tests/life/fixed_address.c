// At a fixed address, and it takes malloc's: the executable's PLT entry stands for malloc everywhere. For each line on
// stdin it keeps 1000 bytes by a call and 2000 through the pointer.
// build: -no-pie -fno-pie
#include <stdio.h>
#include <stdlib.h>

static void *kept[200];
static void *(*volatile through)(size_t);

int main(void) {
  char line[16];
  int count = 0;
  through = malloc; // in code, at a fixed address
  setvbuf(stdin, NULL, _IONBF, 0);
  puts("ready");
  fflush(stdout);
  while (count < 200 && fgets(line, sizeof line, stdin)) {
    kept[count++] = malloc(1000);  // called
    kept[count++] = through(2000); // pointed
    puts("done");
    fflush(stdout);
  }
  return 0;
}
