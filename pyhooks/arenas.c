#include "arenas.h"

#include <sys/mman.h>

#include "../native/ranges.h"
#include "frame_layout.h"
#include "hook_python.h"
#include "object_count.h"
#include "object_map.h"
#include "running_frame.h"
#include "table_lock.h"

HT_KEPT static struct python_arena_allocator below; // another tool's allocator may keep heaptide's for good
static uint64_t mapped_bytes; // changed with the GIL; with several interpreters each has its own, hence atomically

static void *arena_alloc(void *context, size_t bytes) {
  (void)context;
  struct thread *thread = hook_python_on ? thread_self() : NULL;
  uint8_t suspended = thread ? thread->suspended : 0;
  if (thread) thread->suspended = 1;
  void *arena = below.alloc(below.context, bytes);
  if (!arena || !thread) return arena;
  thread->suspended = suspended;
  __atomic_add_fetch(&mapped_bytes, bytes, __ATOMIC_RELAXED);
  ht_map(thread, (uintptr_t)arena, bytes, PROT_READ | PROT_WRITE, RANGE_ARENA, (struct hook_frame){0, 0});
  return arena;
}

static void count_dropped(uint32_t pair, void *thread) {
  if (!hook_python_ended) pair_free(&((struct thread *)thread)->count, pair, false);
}

static void arena_free(void *context, void *arena, size_t bytes) {
  (void)context;
  struct thread *thread = hook_python_on ? thread_self() : NULL;
  uint8_t suspended = thread ? thread->suspended : 0;
  bool known = thread && arenas_contain((uintptr_t)arena); // else it is from before an attach
  if (thread) {
    ht_unmap(thread, (uintptr_t)arena, bytes);
    tables_enter(thread);
    object_map_forget((uintptr_t)arena, bytes, count_dropped, thread);
    tables_leave(thread);
    thread->suspended = 1;
    if (known) __atomic_sub_fetch(&mapped_bytes, bytes, __ATOMIC_RELAXED);
  }
  below.free(below.context, arena, bytes);
  if (thread) thread->suspended = suspended;
}

void arenas_install(void) {
  struct python_arena_allocator now;
  python.PyObject_GetArenaAllocator(&now);
  if (now.alloc == arena_alloc) return;
  below = now;
  now = (struct python_arena_allocator){NULL, arena_alloc, arena_free};
  python.PyObject_SetArenaAllocator(&now);
}

void arenas_remove(void) {
  struct python_arena_allocator now;
  python.PyObject_GetArenaAllocator(&now);
  if (now.alloc == arena_alloc) python.PyObject_SetArenaAllocator(&below);
}

bool arenas_contain(uintptr_t address) {
  lock_take(range_lock());
  const struct range *range = range_find(address);
  bool contains = range && range->flags & RANGE_ARENA;
  lock_drop(range_lock());
  return contains;
}

uint64_t arenas_free_bytes(uint64_t small_live_bytes) {
  return mapped_bytes > small_live_bytes ? mapped_bytes - small_live_bytes : 0;
}

// ---- the frame stack: _PyStackChunk {previous, size, top, data[]}, Include/cpython/pystate.h. `top` counts words of
// `data` and is written when the next chunk is begun; of the newest one PyThreadState.datastack_top (right after
// datastack_chunk) tells.

struct stack_chunk {
  struct stack_chunk *previous;
  size_t bytes, top;
  void *data[];
};

static struct { uintptr_t start, end, used_end; } chunks[ARENA_CHUNKS_MAX];
static uint32_t chunk_count;

static void chunks_add(const char *thread_state) {
  const struct stack_chunk *chunk = field_pointer(thread_state, frame_layout.tstate_chunk);
  uintptr_t used_end = (uintptr_t)field_pointer(thread_state, (uint16_t)(frame_layout.tstate_chunk + sizeof(void *)));
  for (; chunk && chunk_count < ARENA_CHUNKS_MAX; chunk = chunk->previous) {
    chunks[chunk_count].start = (uintptr_t)chunk;
    chunks[chunk_count].end = (uintptr_t)chunk + chunk->bytes;
    chunks[chunk_count++].used_end = used_end;
    if (chunk->previous) used_end = (uintptr_t)&chunk->previous->data[chunk->previous->top];
  }
}

bool arenas_scan_begin(void) {
  chunk_count = 0;
  struct python_thread_links *mine = python.thread_state(), *state;
  if (frame_layout.tstate_chunk == FRAME_LAYOUT_NONE || !mine) return true;
  for (state = mine; state; state = state->next) chunks_add((char *)state);
  for (state = mine->previous; state; state = state->previous) chunks_add((char *)state);
  return true;
}

bool arenas_chunk_find(uintptr_t address, uintptr_t *start, uintptr_t *end, uint32_t *index) {
  for (uint32_t i = 0; i < chunk_count; i++) {
    if (address < chunks[i].start || address >= chunks[i].end) continue;
    *start = chunks[i].start;
    *end = chunks[i].used_end;
    *index = i;
    return true;
  }
  return false;
}
