// sources: native/live.c native/live_scan.c native/resident.c native/sys.c native/lock.c
// The block around an address, against a plain search; blocks of every size, far apart and side by side.
#include "../../native/live.h"
#include "../../native/resident.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 4000
#define LOW 0x555500000000ul // addresses only: nothing is ever read there
#define FAR 0x7f0000000000ul

static struct block blocks[BLOCKS]; // by address

static size_t usable(void *start) {
  for (int i = 0; i < BLOCKS; i++)
    if (blocks[i].start == (uintptr_t)start) return (blocks[i].size_bytes + 15) & ~15ul;
  return 0;
}

static size_t random_size(void) {
  switch (random() % 8) {
  case 0:
    return 0;
  case 1:
    return (size_t)random() % 100000;
  case 2:
    return random() % 50 ? 8 : (size_t)random() % (100u << 20);
  default:
    return (size_t)random() % 200;
  }
}

static uintptr_t random_gap(void) {
  static const uintptr_t gaps[] = {16, 16, 16, 32, 4096, 1 << 20, 70 << 20};
  return gaps[random() % (random() % 20 ? 5 : 7)];
}

static void blocks_make(void) {
  uintptr_t at = LOW;
  for (int i = 0; i < BLOCKS; i++) {
    if (i == BLOCKS / 2) at = FAR;
    blocks[i] = (struct block){at, random_size(), {SITE_FIRST + (uint32_t)i}};
    uintptr_t step = ((blocks[i].size_bytes + 15) & ~15ul) + random_gap();
    at += live_wide && step < 32 ? 32 : step; // as glibc's chunks
  }
}

static const struct block *block_around(uintptr_t address) {
  for (int i = 0; i < BLOCKS; i++)
    if (address - blocks[i].start < blocks[i].size_bytes || address == blocks[i].start) return &blocks[i];
  return NULL;
}

static uintptr_t random_address(void) {
  const struct block *near = &blocks[random() % BLOCKS];
  switch (random() % 4) {
  case 0:
    return near->start;
  case 1:
    return near->start + near->size_bytes;
  case 2:
    return near->start + (near->size_bytes ? (size_t)random() % near->size_bytes : 0);
  default:
    return near->start - 40 + (uintptr_t)random() % 80;
  }
}

static void test_find(void) {
  for (int i = 0; i < 20000; i++) {
    uintptr_t address = random_address();
    const struct block *wanted = block_around(address);
    struct block found;
    bool is_found = live_find(address, &found);
    EXPECT(is_found == (wanted != NULL));
    if (is_found && wanted)
      EXPECT(found.start == wanted->start && found.size_bytes == wanted->size_bytes &&
             found.site.value == wanted->site.value);
  }
  struct block found;
  EXPECT(!live_find(0, &found) && !live_find(LOW - 16, &found) && !live_find(UINTPTR_MAX, &found));
  EXPECT(!live_find(FAR - 16, &found) && !live_find(0x7fffffffffff, &found));
}

static bool next_is(const struct block *block, void *next) {
  int *index = next;
  EXPECT(*index < BLOCKS && block->start == blocks[*index].start && block->size_bytes == blocks[*index].size_bytes);
  ++*index;
  return failures == 0;
}

static void test_each_comes_by_address(void) {
  int next = 0;
  live_each(next_is, &next);
  EXPECT(next == BLOCKS);
}

// Without a scan; by address, since one has sorted the leaves.
static void test_walk(void) {
  int next = 0;
  live_walk(next_is, &next);
  EXPECT(next == BLOCKS);
}

static bool unreached_is_odd(const struct block *block, void *count) {
  EXPECT((block->site.value - SITE_FIRST) % 2 == 1);
  ++*(int *)count;
  return true;
}

static void test_marks(void) {
  for (int i = 0; i < BLOCKS; i += 2) {
    EXPECT(live_point(blocks[i].start, LIVE_REACHED) == blocks[i].start);
    live_mark(blocks[i].start, LIVE_REACHED);
    EXPECT(live_point(blocks[i].start, LIVE_REACHED) == LIVE_POINT_MARKED);
    EXPECT(live_point(blocks[i].start, LIVE_INDIRECT) == LIVE_POINT_MARKED);
  }
  live_mark(blocks[1].start, LIVE_INDIRECT);
  EXPECT(live_point(blocks[1].start, LIVE_INDIRECT) == LIVE_POINT_MARKED);
  EXPECT(live_point(blocks[1].start, LIVE_REACHED) == blocks[1].start);
  int count = 0;
  live_each_unreached(unreached_is_odd, &count);
  EXPECT(count == BLOCKS / 2);
}

static void test_all(bool wide) {
  live_init(usable, false);
  live_wide = wide;
  blocks_make();
  for (int i = 0; i < BLOCKS; i++) live_put(blocks[i].start, blocks[i].size_bytes, blocks[i].site);
  resident_begin();
  EXPECT(live_scan_begin());
  test_find();
  test_each_comes_by_address();
  test_marks();
  live_scan_end();
  resident_end();
  test_walk();
  struct block taken;
  for (int i = 0; i < BLOCKS; i++) {
    if (wide && i % 2) EXPECT(!live_take(blocks[i].start ^ 16, &taken)); // the other half of its granule
    EXPECT(live_take(blocks[i].start, &taken) && taken.site.value == blocks[i].site.value);
  }
}

int main(void) {
  srandom(7);
  test_all(false);
  test_all(true);
  return failures != 0;
}
