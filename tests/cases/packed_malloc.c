// An allocator to preload whose blocks of up to 16 bytes lie side by side, nothing between them. Nothing is given back.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { SMALL = 16, HEADER = 16 };
#define REGION_BYTES (256ul << 20)

static char *regions[2]; // of small blocks; of others, each behind its size
static size_t used[2];
static int busy;

static char *take(int region, size_t bytes) {
  while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE));
  if (!regions[region])
    regions[region] = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *at = regions[region] + used[region];
  used[region] += bytes;
  __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
  return used[region] <= REGION_BYTES ? at : NULL;
}

static int is_small(const char *block) { return block >= regions[0] && block < regions[0] + REGION_BYTES; }

void *aligned_alloc(size_t alignment, size_t bytes) {
  if (alignment < HEADER) alignment = HEADER;
  size_t rounded = (bytes + 15) & ~15ul;
  char *at = take(1, rounded + HEADER + alignment);
  if (!at) return NULL;
  char *block = (char *)(((uintptr_t)at + HEADER + alignment - 1) & ~(alignment - 1));
  ((size_t *)block)[-1] = rounded;
  return block;
}

void *malloc(size_t bytes) { return bytes <= SMALL ? take(0, SMALL) : aligned_alloc(HEADER, bytes); }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); } // fresh pages are zero
size_t malloc_usable_size(void *block) { return !block ? 0 : is_small(block) ? SMALL : ((size_t *)block)[-1]; }
void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }
void *valloc(size_t bytes) { return aligned_alloc(4096, bytes); }
void *pvalloc(size_t bytes) { return aligned_alloc(4096, (bytes + 4095) & ~4095ul); }

void *realloc(void *old, size_t bytes) {
  size_t before = malloc_usable_size(old);
  void *block = malloc(bytes);
  return old && block ? memcpy(block, old, before < bytes ? before : bytes) : block;
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  *block = aligned_alloc(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
