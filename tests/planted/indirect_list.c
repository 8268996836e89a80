// A list of ten whose head is lost: the head is direct, the nine behind it are indirect.
// expect direct 32 in 1 at @link
// expect indirect 288 in 9 at @link
#include "planted.h"

struct link {
  struct link *next;
  char text[24];
};

static __attribute__((noinline)) void list_lose(void) {
  struct link *head = NULL;
  for (int i = 0; i < 10; i++) {
    struct link *link = malloc(sizeof *link); // @link
    link->next = head;
    head = link;
  }
}

int main(void) {
  list_lose();
  stack_scrub();
  return 0;
}
