// Two builds of one program, for `heaptide diff`. -DCHANGED: each change once, named by its function. -DMOVED: the same
// code at other lines and addresses. -DRECURSES: the leak lies deeper in a recursion.
#include <stdlib.h>
#include <string.h>

#ifdef CHANGED
#define NOW(before, after) (after)
#else
#define NOW(before, after) (before)
#endif

enum { KIB = 1024, MIB = 1024 * KIB };

void *volatile kept[8];

#ifdef MOVED
int moved_table[4096] = {1};

// Code that was not there before, so that everything behind it lies elsewhere.
__attribute__((noinline)) int moved(int seed) {
  for (int i = 0; i < 4096; i++) {
    moved_table[i] = moved_table[(i + 1) % 4096] * seed + i;
    if (moved_table[i] % 7 == 0) seed += moved_table[i];
  }
  return seed;
}
#else
int moved(int seed) { return seed; }
#endif

static void *filled(size_t bytes) {
  void *block = malloc(bytes);
  memset(block, 1, bytes);
  return block;
}

void leak_stays(void) { filled(1000); }

void leak_comes(void) {
  if (NOW(0, 1)) filled(500);
}

void leak_goes(void) {
  if (NOW(1, 0)) filled(3000);
}

void leak_grows(void) {
  for (int i = 0; i < NOW(100, 300); i++) filled(1024);
}

void held_comes(void) {
  if (NOW(0, 1)) kept[0] = filled(700);
}

void held_grows(void) { kept[1] = filled(NOW(200, 400) * KIB); }

void held_shrinks(void) { kept[2] = filled(NOW(500, 300) * KIB); }

// Over 10 %, but no 64 KiB; over 64 KiB, but no 10 %.
void held_little(void) { kept[3] = filled(NOW(100, 150) * KIB); }
void held_much(void) { kept[4] = filled(NOW(10 * MIB, 10 * MIB + 500 * KIB)); }

void peak_grows(void) { kept[5] = filled(NOW(100, 300) * KIB); }

void peak_comes(void) {
  if (NOW(0, 1)) kept[6] = filled(200 * KIB);
}

// Nothing of this is there at the end or when the peak is reached.
void passes(void) { free(filled(NOW(10, 1000) * KIB)); }

void deeper(int depth) {
  if (depth == 0)
    filled(64);
  else
    deeper(depth - 1);
}

int main(int argc, char **argv) {
  passes();
  leak_stays();
  leak_comes();
  leak_goes();
  leak_grows();
  held_comes();
  held_grows();
  held_shrinks();
  held_little();
  held_much();
  peak_grows();
  peak_comes();
#ifdef RECURSES
  deeper(9);
#else
  deeper(3);
#endif
  free(kept[5]);
  free(kept[6]);
  kept[5] = kept[6] = NULL;
  return moved(argc) == -1;
}
