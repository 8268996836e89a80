#include "roots.h"

#include <string.h>

#include "allocator_memory.h"
#include "file_words.h"
#include "growing.h"
#include "heap_sample.h"
#include "hook_thread.h"
#include "live.h"
#include "ranges.h"
#include "resident.h"
#include "spans.h"
#include "stop.h"
#include "sys.h"
#include "thread_stacks.h"

#define PAGE_BYTES 4096ul

struct collection {
  struct roots *roots;
  const struct maps *maps;
  const struct scan_origin *origin;
  struct thread_stacks stacks;
  struct spans holes; // what lies in writable memory without being a root
  bool dirty_only;
  const struct mapping *mapping; // the one being added
  struct file_words file;        // what it held at first
};

// ---- the list

static void root_add(struct roots *roots, struct root root) {
  if (root.start >= root.end) return;
  if (!growing_reserve((void **)&roots->table, &roots->capacity, roots->count + 1, sizeof root))
    roots->complete = false;
  else
    roots->table[roots->count++] = root;
}

void roots_drop(struct roots *roots) {
  if (roots->table) sys_unmap(roots->table, roots->capacity * sizeof *roots->table);
  *roots = (struct roots){0};
}

// ---- threads

static uintptr_t thread_pointer(void) {
  uintptr_t value;
  __asm__("mov %%fs:0, %0" : "=r"(value)); // tcbhead_t.tcb
  return value;
}

void roots_each_thread(const struct scan_origin *origin, void (*visit)(const struct root_thread *, void *),
                       void *context) {
  visit(&(struct root_thread){(uint32_t)sys_tid(), origin->stack_pointer, thread_pointer(), NULL}, context);
  uint32_t count;
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (threads[i].state == STOP_GONE) continue;
    bool still = threads[i].state == STOP_PARKED || threads[i].state == STOP_ASLEEP;
    uintptr_t stack_pointer = still ? threads[i].stack_pointer : 0;
    visit(&(struct root_thread){threads[i].tid, stack_pointer, threads[i].thread_pointer, &threads[i]}, context);
  }
}

struct owner_search {
  const struct thread_stack *stack;
  uint32_t tid; // 0: nobody's
};

static void owner_check(const struct root_thread *thread, void *context) {
  struct owner_search *search = context;
  if (thread->stack_pointer >= search->stack->start && thread->stack_pointer < search->stack->end)
    search->tid = thread->tid;
}

static uint32_t stack_owner(const struct collection *all, const struct thread_stack *stack) {
  struct owner_search search = {stack, 0};
  roots_each_thread(all->origin, owner_check, &search);
  return search.tid;
}

// ---- stacks

// The x86-64 ABI's red zone: a function that calls nobody may keep values below the stack pointer. A thread in a
// system call is not in one.
#define RED_ZONE_BYTES 128u

static bool in_call(const struct stop_thread *thread) {
  return thread->call >= 0 && thread->registers[STOP_REGISTERS - 1] == thread->call_pc;
}

// What lies below the stack pointer is left over from calls that have returned.
static void dead_part_add(const struct root_thread *thread, void *context) {
  struct collection *all = context;
  const struct thread_stack *stack = thread_stacks_at(&all->stacks, thread->stack_pointer);
  if (stack) spans_add(&all->holes, stack->start, thread->stack_pointer);
}

static void registers_add(struct collection *all, const uintptr_t *registers, size_t count, uint32_t tid) {
  root_add(all->roots, (struct root){(uintptr_t)registers, (uintptr_t)(registers + count), ROOT_REGISTERS, tid});
}

static void thread_extras_add(struct collection *all, const struct stop_thread *thread) {
  if (thread->state != STOP_PARKED) return;
  registers_add(all, thread->registers, STOP_REGISTERS, thread->tid);
  root_add(all->roots, (struct root){thread->vector_start, thread->vector_end, ROOT_REGISTERS, thread->tid});
  if (!in_call(thread))
    root_add(all->roots, (struct root){(thread->stack_pointer - RED_ZONE_BYTES) & ~7ul, thread->stack_pointer & ~7ul,
                                       ROOT_STACK, thread->tid});
}

static void threads_add(struct collection *all) {
  uint32_t count;
  const struct stop_thread *threads = stop_threads(&count);
  registers_add(all, all->origin->registers, 16, (uint32_t)sys_tid());
  for (uint32_t i = 0; i < count; i++) thread_extras_add(all, &threads[i]);
}

// A stack in memory of the program's own (a block, a mapping it made, a static array): in use from the stack pointer
// to that memory's end, reachable or not.
static void foreign_stack_add(const struct root_thread *thread, void *context) {
  struct collection *all = context;
  uintptr_t end = allocator_memory_end(thread->stack_pointer);
  if (!thread->stack_pointer || !end) return;
  root_add(all->roots, (struct root){thread->stack_pointer & ~7ul, end & ~7ul, ROOT_STACK, thread->tid});
}

// ---- stacks of threads that have ended: the C library keeps them for later threads, and nothing in them counts

struct life_search {
  const struct thread_stack *stack;
  bool alive;
};

static void life_check(const struct root_thread *thread, void *context) {
  struct life_search *search = context;
  const struct thread_stack *stack = search->stack;
  search->alive |= thread->stack_pointer >= stack->start && thread->stack_pointer < stack->end;
  search->alive |=
      thread->thread_pointer ? thread->thread_pointer == stack->descriptor : thread->tid == thread_stack_tid(stack);
}

static bool main_has_left(void) {
  uint32_t count, pid = (uint32_t)sys_pid();
  const struct stop_thread *threads = stop_threads(&count);
  for (uint32_t i = 0; i < count; i++)
    if (threads[i].tid == pid) return threads[i].state == STOP_GONE;
  return false;
}

static bool is_left(const struct collection *all, const struct thread_stack *stack) {
  struct life_search search = {stack, false};
  if (stack->is_main) return main_has_left();
  if (!stack->descriptor || !stack->is_guarded) return false;
  roots_each_thread(all->origin, life_check, &search);
  return !search.alive;
}

// ---- mappings

static bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// Memory of devices is not to be read; files that are shared are data, not memory. What System V or fork shares is.
static bool may_hold_pointers(const struct mapping *mapping) {
  const char *path = mapping->path;
  if (!(mapping->flags & MAPS_READ)) return false;
  if (mapping->flags & MAPS_SHARED) return starts_with(path, "/dev/zero") || starts_with(path, "/SYSV");
  if (starts_with(path, "/dev/") || starts_with(path, "anon_inode:") || starts_with(path, "[v")) return false;
  bool relocated = *path == '/' && !(mapping->flags & MAPS_EXEC); // constants that the loader filled in
  return mapping->flags & MAPS_WRITE || relocated;
}

// A word that is as the file has it was known before the program ran, and no block's address was. Constants matter
// where a program lies at a fixed low address, its heap just behind: bytes of a table then look like pointers.
static bool is_constant(uintptr_t word, uintptr_t in_file) {
  const uintptr_t lowest = 65536, highest = 1ul << 47; // addresses that a mapping may have
  return word == in_file && word - lowest < highest - lowest;
}

// The parts of [start, end) between constants.
static void changed_add(struct collection *all, uintptr_t start, uintptr_t end) {
  struct root root = {start, end, ROOT_MAPPING, 0};
  if (!all->file.words) return root_add(all->roots, root);
  const uintptr_t *in_file = all->file.words + (start - all->mapping->start) / sizeof *in_file;
  for (uintptr_t at = start; at < end; at += sizeof(uintptr_t), in_file++) {
    if (!is_constant(*(const uintptr_t *)at, *in_file)) continue;
    root.end = at;
    root_add(all->roots, root);
    root.start = at + sizeof(uintptr_t);
  }
  root.end = end;
  root_add(all->roots, root);
}

// Memory, and stacks one after the other in one mapping.
static void memory_add(struct collection *all, uintptr_t start, uintptr_t end) {
  while (start < end) {
    const struct thread_stack *stack = thread_stacks_at(&all->stacks, start);
    uint32_t tid = stack ? stack_owner(all, stack) : 0;
    uintptr_t piece_end = stack && stack->end < end ? stack->end : end;
    root_add(all->roots, (struct root){start, piece_end, tid ? ROOT_STACK : ROOT_MAPPING, tid});
    start = piece_end;
  }
}

static void gap_add(uintptr_t start, uintptr_t end, void *context) {
  struct collection *all = context;
  if (!all->dirty_only) return memory_add(all, start, end);
  for (uintptr_t at = start, run_end; resident_next(&at, &run_end, end, true); at = run_end)
    changed_add(all, at, run_end);
}

// The dynamic loader's own variables lead to blocks that it allocated itself, and those are roots by themselves
// (flood_root_blocks). Nothing else in them counts: one still points to where the cache of libraries was mapped while
// it was looked into (cache_new, elf/dl-cache.c), which is where the next large block lies.
static bool is_loader_data(const struct maps *maps, const struct mapping *mapping) {
  if (!(mapping->flags & MAPS_WRITE)) return false;
  bool follows = !*mapping->path && mapping > maps->table && mapping[-1].end == mapping->start; // its zeroed variables
  const struct mapping *before = follows ? mapping - 1 : NULL;
  return maps_path_is_loader(before ? before->path : mapping->path);
}

static void mapping_add(struct collection *all, const struct mapping *mapping) {
  if (!may_hold_pointers(mapping) || is_loader_data(all->maps, mapping)) return;
  bool memfd = starts_with(mapping->path, "/memfd:");
  all->dirty_only = *mapping->path == '/' && !memfd && !(mapping->flags & MAPS_SHARED);
  all->mapping = mapping;
  if (all->dirty_only) all->file = file_words_map(mapping);
  spans_gaps(&all->holes, mapping->start, mapping->end, gap_add, all);
  file_words_unmap(&all->file);
}

static void own_hole_add(uintptr_t start, uintptr_t end, void *context) {
  spans_add(&((struct collection *)context)->holes, start, end);
}

// Of the linker: where this library begins and ends in memory.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// After attach, and where only a sample of the blocks is recorded, everything but the known blocks counts: what else is
// there may hold them. It may hide a leak, and never makes one up.
#define BETWEEN_BLOCKS_BYTES 24u // headers and rounding: no block has room there. Others than glibc need no header.

struct known_blocks {
  struct spans *holes;
  uintptr_t start, end; // of the blocks that follow each other
};

static bool known_block_add(const struct block *block, void *context) {
  struct known_blocks *known = context;
  if (block->start - known->end > (live_usable_glibc ? BETWEEN_BLOCKS_BYTES : 0)) {
    spans_add(known->holes, known->start, known->end);
    known->start = block->start;
  }
  known->end = block->start + block->size_bytes;
  return true;
}

static void known_blocks_add(struct collection *all) {
  struct known_blocks known = {.holes = &all->holes};
  live_each(known_block_add, &known);
  spans_add(&all->holes, known.start, known.end);
}

static void holes_collect(struct collection *all) {
  uint32_t count;
  const struct range *ranges = range_array(&count);
  sys_own_each(own_hole_add, all);
  uintptr_t own_end = ((uintptr_t)_end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
  spans_add(&all->holes, (uintptr_t)__ehdr_start, own_end);
  for (uint32_t i = 0; i < count; i++)
    if (!(heap_sample_on && ranges[i].flags & RANGE_ALLOCATOR)) // there are blocks in it that nobody recorded
      spans_add(&all->holes, ranges[i].start, ranges[i].end);
  roots_each_thread(all->origin, dead_part_add, all);
  for (uint32_t i = 0; i < all->stacks.count; i++) {
    const struct thread_stack *stack = &all->stacks.table[i];
    if (is_left(all, stack)) spans_add(&all->holes, stack->start, stack->end);
  }
  if (live_partial || heap_sample_on) {
    known_blocks_add(all);
    allocator_books_collect(all->maps, &all->holes);
  } else {
    allocator_memory_collect(all->maps, &all->holes);
  }
  spans_sort(&all->holes);
}

// What threads that are being born were given.
static void start_add(uintptr_t start, uintptr_t end, void *context) {
  root_add(((struct collection *)context)->roots, (struct root){start, end, ROOT_START, 0});
}

static void inherited_ranges_add(struct collection *all) {
  uint32_t count;
  const struct range *ranges = range_array(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (!(ranges[i].flags & RANGE_INHERITED) || ranges[i].flags & (RANGE_ALLOCATOR | RANGE_ARENA)) continue;
    root_add(all->roots, (struct root){ranges[i].start, ranges[i].end, ROOT_INHERITED, 0});
  }
}

void roots_collect(struct roots *roots, const struct maps *maps, const struct scan_origin *origin) {
  struct collection all = {.roots = roots, .maps = maps, .origin = origin};
  *roots = (struct roots){.complete = true};
  thread_stacks_find(&all.stacks, maps);
  holes_collect(&all);
  for (uint32_t i = 0; i < maps->count; i++) mapping_add(&all, &maps->table[i]);
  roots_each_thread(origin, foreign_stack_add, &all);
  threads_add(&all);
  hook_thread_starts_each(start_add, &all);
  inherited_ranges_add(&all);
  roots->complete &= !all.holes.full && !all.stacks.full;
  spans_drop(&all.holes);
  thread_stacks_drop(&all.stacks);
}
