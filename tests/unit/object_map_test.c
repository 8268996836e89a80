// sources: pyhooks/object_map.c native/sys.c native/lock.c
// The map of Python's small objects against a plain list of what was put in: random sizes, pages that are split anew,
// stale blocks, arenas that go.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "object_map.h"

#define ARENA 0x7f0012340000ul // never read or written: the map only computes with addresses
#define ARENA_BYTES (1ul << 20)
#define GRANULES (ARENA_BYTES / 16)

bool arenas_contain(uintptr_t address) { return address >= ARENA && address < ARENA + ARENA_BYTES; }

// What should be there, by 16 bytes of the arena: pair of the block that starts there, and its size.
static struct { uint32_t pair, size_bytes; } model[GRANULES];
static uint32_t model_count, seen_count;

static bool model_is_free(uint32_t granule, uint32_t size_bytes) {
  uint32_t length = (size_bytes + 15) / 16;
  if (length == 0) length = 1;
  uint32_t page = granule >> (object_page_bits - 4);
  if ((granule + length - 1) >> (object_page_bits - 4) != page) return false; // a pool is a page
  for (uint32_t back = 0; back < 32 && back <= granule; back++) {
    uint32_t size = model[granule - back].size_bytes, covers = size ? (size + 15) / 16 : 1;
    if (model[granule - back].pair && covers > back) return false;
  }
  for (uint32_t i = 0; i < length; i++)
    if (model[granule + i].pair) return false;
  return true;
}

static void put_one(uint32_t granule, uint32_t pair, uint32_t size_bytes) {
  bool refused = false;
  assert(object_map_put(ARENA + granule * 16ul, pair, size_bytes, &refused) == 0 && !refused);
  model[granule].pair = pair;
  model[granule].size_bytes = size_bytes;
  model_count++;
}

static void take_one(uint32_t granule) {
  assert(object_map_take(ARENA + granule * 16ul, object_page_bits) == model[granule].pair);
  if (model[granule].pair) model_count--;
  model[granule].pair = 0;
}

static bool check_visit(uintptr_t start, uint32_t pair, void *unused) {
  (void)unused;
  assert(model[(start - ARENA) / 16].pair == pair);
  seen_count++;
  return true;
}

static void check_all(void) {
  seen_count = 0;
  object_map_each(check_visit, NULL);
  assert(seen_count == model_count);
}

static void check_find(uint32_t granule) {
  uint32_t pair, size = model[granule].size_bytes;
  uintptr_t start = ARENA + granule * 16ul;
  if (!model[granule].pair) return;
  uint32_t offset = size ? (uint32_t)rand() % size : 0;
  assert(object_map_find(start + offset, &pair) == start && pair == model[granule].pair);
}

// `classes` as pymalloc does it (a page of one size at a time) or any sizes mixed.
static void random_rounds(int rounds, bool classes) {
  for (int i = 0; i < rounds; i++) {
    uint32_t granule = (uint32_t)rand() % GRANULES, page = granule >> (object_page_bits - 4);
    uint32_t size = classes ? 16 * (page % 32 + 1) - (uint32_t)rand() % 16 : (uint32_t)rand() % (OBJECT_BYTES_MAX + 1);
    if (model[granule].pair)
      take_one(granule);
    else if (model_is_free(granule, size))
      put_one(granule, 1 + (uint32_t)rand() % 1000000, size);
    else
      take_one(granule);
    check_find((uint32_t)rand() % GRANULES);
  }
  check_all();
}

static void forget_visit(uint32_t pair, void *sum) { *(uint64_t *)sum += pair; }

static void forget_everything(void) {
  uint64_t sum = 0, expected = 0;
  for (uint32_t i = 0; i < GRANULES; i++) expected += model[i].pair;
  // Arenas are at multiples of 4 KiB, pools of their own size: an arena may begin inside a page.
  object_map_forget(ARENA + (1ul << object_page_bits) / 2, ARENA_BYTES, forget_visit, &sum);
  assert(sum == expected);
  memset(model, 0, sizeof model);
  model_count = 0;
  check_all();
}

static void edges(void) {
  bool refused = false;
  object_map_put(ARENA + ARENA_BYTES, 7, 16, &refused);
  assert(refused && object_map_take(ARENA + ARENA_BYTES, object_page_bits) == 0); // not in an arena
  assert(object_map_take(0xffff800000000000ul, object_page_bits) == 0);
  refused = false;
  assert(object_map_put(ARENA, 7, 0, &refused) == 0 && !refused);
  assert(object_map_put(ARENA, 8, 512, &refused) == 7 && !refused); // a free that was never seen
  assert(object_map_take(ARENA + 16, object_page_bits) == 0 && object_map_take(ARENA, object_page_bits) == 8 &&
         object_map_take(ARENA, object_page_bits) == 0);
}

static void map_test(uint32_t page_bits) {
  object_map_init(page_bits);
  edges();
  random_rounds(200000, true);
  forget_everything();
  random_rounds(200000, false);
  forget_everything();
}

// A process has one page size, so each gets one of its own.
int main(void) {
  srand(1);
  pid_t child = fork();
  if (child == 0) return map_test(12), 0;
  map_test(14);
  int status;
  assert(waitpid(child, &status, 0) == child && status == 0);
  puts("object map: ok");
  return 0;
}
