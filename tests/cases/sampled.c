// Many blocks of each of some fates, one function for each: test_sample.py knows how many.
#include <pthread.h>
#include <stdlib.h>

#define KEEP(block) __asm__ volatile("" : : "r"(block) : "memory")
enum { KEPT = 100000, LOST = 100000, BRIEF = 500000, FREED = 100000, GROWN = 100000, LARGE = 50, NODES = 50000 };
enum { THREADS = 4, HANDED = 50000 };

struct node {
  struct node *left, *right;
  char text[24];
};
// Not static: the compiler would leave out what nobody reads.
void *kept[KEPT], *freed[FREED], *handed[THREADS][HANDED];
struct node *tree;

__attribute__((noinline)) static void *keep(void) { return malloc(100); }
__attribute__((noinline)) static void *make(void) { return malloc(500); }
__attribute__((noinline)) static void *begin(void) { return malloc(60); }
__attribute__((noinline)) static void *grow(void *block) { return realloc(block, 3000); }
__attribute__((noinline)) static struct node *node_make(void) { return calloc(1, sizeof(struct node)); }

__attribute__((noinline)) static void lose(void) {
  void *block = calloc(1, 200);
  KEEP(block);
}

__attribute__((noinline)) static void lose_large(void) {
  void *block = calloc(1, 1 << 20);
  KEEP(block);
}

__attribute__((noinline)) static void be_brief(void) {
  void *block = malloc(50);
  KEEP(block);
  free(block);
}

static struct node *tree_grow(int nodes) {
  if (nodes == 0) return NULL;
  struct node *node = node_make();
  node->left = tree_grow((nodes - 1) / 2);
  node->right = tree_grow(nodes - 1 - (nodes - 1) / 2);
  return node;
}

__attribute__((noinline)) static void *hand(void) { return malloc(300); }

static void *thread_run(void *place) {
  for (int i = 0; i < HANDED; i++) ((void **)place)[i] = hand();
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < KEPT; i++) kept[i] = keep();
  for (int i = 0; i < LOST; i++) lose();
  for (int i = 0; i < BRIEF; i++) be_brief();
  for (int i = 0; i < FREED; i++) freed[i] = make();
  for (int i = 0; i < FREED; i++) free(freed[i]);
  for (int i = 0; i < GROWN; i++) free(grow(begin()));
  for (int i = 0; i < LARGE; i++) lose_large();
  tree = tree_grow(NODES);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread_run, handed[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    for (int k = 0; k < HANDED; k++) free(handed[i][k]);
  return 0;
}
