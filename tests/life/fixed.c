// A program at fixed addresses that takes malloc's address: the name then stands for an entry of its own PLT,
// everywhere.
#include <stdio.h>
#include <stdlib.h>

void *(*volatile take)(size_t) = malloc;
void (*volatile give)(void *) = free;
static void *keep[30];

int main(void) {
  char line[16];
  setvbuf(stdin, NULL, _IONBF, 0);
  setvbuf(stdout, NULL, _IONBF, 0);
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    for (int i = 0; i < 20; i++) keep[i] = take(1000);
    for (int i = 20; i < 30; i++) keep[i] = malloc(2000);
    for (int i = 0; i < 5; i++) give(keep[i]);
    puts(take == malloc && give == free ? "same" : "other");
  }
}
