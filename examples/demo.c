// The demo: a small server that loses memory on every tenth request.
//
// Each of 1000 requests makes a 128-byte node and a 64-byte child that only the node points to. Nine of ten
// requests free the child, then the node; every tenth forgets both. One more node sits in a global cache: nobody
// frees it, but it is still reachable, so it is no leak.
//
//   gcc -g -O0 demo.c -o demo && heaptide run -- ./demo && heaptide report
//
// What the report has to say:
//   leaks        12800 B direct in 100 blocks at node_make, 6400 B indirect in 100 blocks at child_make
//   live         12800 + 6400 + the cached node's 128 = 19328 B
//   peak         19328 B: 99 lost pairs and the cached node (19136 B) and the pair of the current request (192 B),
//                reached at the 991st request and never passed, since the 1000th request loses the pair it made
//   temporaries  900: each freed child was its thread's latest block; the nodes freed after them were not
//   calls        2001 allocations, 1800 frees
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { REQUESTS = 1000, LOST_EACH = 10, NODE_BYTES = 128, CHILD_BYTES = 64, REQUEST_US = 2000 };

struct child {
  char text[CHILD_BYTES];
};

struct node {
  struct child *child;
  char text[NODE_BYTES - sizeof(struct child *)];
};

static struct node *cache;

static struct node *node_make(void) {
  struct node *node = malloc(sizeof *node); // @node
  node->child = NULL;
  return node;
}

static struct child *child_make(void) {
  return malloc(sizeof(struct child)); // @child
}

static void request_serve(int number) {
  struct node *node = node_make();
  node->child = child_make();
  if (number % LOST_EACH == LOST_EACH - 1) return; // forgets the node, and with it the child
  free(node->child);
  free(node);
}

static void cache_fill(void) { cache = node_make(); }

int main(void) {
  cache_fill();
  for (int number = 0; number < REQUESTS; number++) {
    request_serve(number);
    usleep(REQUEST_US); // two seconds in all: time enough to judge growth
  }
  return 0;
}
