// A list that a global holds, in blocks of 16 bytes.
#include <stdlib.h>

struct node {
  struct node *next;
  long number;
};
struct node *list;

int main(void) {
  for (long i = 0; i < 20000; i++) {
    struct node *node = malloc(sizeof *node);
    node->number = i;
    node->next = list;
    list = node;
  }
  return 0;
}
