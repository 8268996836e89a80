#include "thread_stacks.h"

#include <string.h>

#include "growing.h"
#include "resident.h"
#include "sys.h"

#define PAGE_BYTES 4096ul
#define DESCRIPTOR_SEARCH_BYTES 8192u // struct pthread is 2,304 bytes in glibc 2.36 and lies at the very end of a stack
#define DESCRIPTOR_ALIGN_BYTES 64u    // TCB_ALIGNMENT, sysdeps/x86_64/nptl/tcb-offsets
#define TID_OFFSET 720u // offsetof(struct pthread, tid), glibc 2.34 to 2.43: 704 of header, 16 of list (nptl/descr.h)

// ---- the list

static void stack_add(struct thread_stacks *stacks, struct thread_stack stack) {
  if (!growing_reserve((void **)&stacks->table, &stacks->capacity, stacks->count + 1, sizeof stack))
    stacks->full = true;
  else
    stacks->table[stacks->count++] = stack;
}

void thread_stacks_drop(struct thread_stacks *stacks) {
  if (stacks->table) sys_unmap(stacks->table, stacks->capacity * sizeof *stacks->table);
  *stacks = (struct thread_stacks){0};
}

const struct thread_stack *thread_stacks_at(const struct thread_stacks *stacks, uintptr_t address) {
  uint32_t low = 0, high = stacks->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (stacks->table[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < stacks->count && stacks->table[low].start <= address ? &stacks->table[low] : NULL;
}

uint32_t thread_stack_tid(const struct thread_stack *stack) {
  return *(const uint32_t *)(stack->descriptor + TID_OFFSET);
}

// ---- finding them

// Whether a page has data and may be read: without waiting for anybody, and without mapping it.
static bool is_there(uintptr_t page) {
  uintptr_t at = page, run_end;
  return resident_next(&at, &run_end, page + PAGE_BYTES, false) && sys_readable(page);
}

// The descriptor has the stack's mapping in two words side by side, stackblock and stackblock_size (nptl/descr.h), of
// which the end is known here. 0: it has not.
static uintptr_t block_start(uintptr_t descriptor, uintptr_t end) {
  for (uintptr_t at = descriptor + TID_OFFSET; at + 2 * sizeof at <= end; at += sizeof at) {
    const uintptr_t *word = (const uintptr_t *)at;
    if (word[0] % PAGE_BYTES == 0 && word[0] && word[0] < descriptor && word[0] + word[1] == end) return word[0];
  }
  return 0;
}

// The stack in `mapping` that ends at `end`. A descriptor begins with tcbhead_t {tcb, dtv, self}, with tcb and self its
// own address (sysdeps/x86_64/nptl/tls.h).
static bool stack_find(const struct mapping *mapping, uintptr_t end, struct thread_stack *stack) {
  uintptr_t low = end;
  while (low > mapping->start && end - low < DESCRIPTOR_SEARCH_BYTES && is_there(low - PAGE_BYTES)) low -= PAGE_BYTES;
  for (uintptr_t at = end - DESCRIPTOR_ALIGN_BYTES; at >= low && at < end; at -= DESCRIPTOR_ALIGN_BYTES) {
    const uintptr_t *head = (const uintptr_t *)at;
    if (at + TID_OFFSET >= end || head[0] != at || head[2] != at) continue;
    uintptr_t start = block_start(at, end);
    *stack = (struct thread_stack){start > mapping->start ? start : mapping->start, end, at, false, false};
    stack->is_guarded = start && !sys_readable(start);
    if (start) return true;
  }
  return false;
}

// Before, a guard was closed memory under the stack (nptl/allocatestack.c), and others who make stacks do so too.
static bool has_guard(const struct maps *maps, const struct mapping *mapping) {
  const struct mapping *before = mapping > maps->table && mapping[-1].end == mapping->start ? mapping - 1 : NULL;
  return before && !(before->flags & (MAPS_READ | MAPS_WRITE));
}

static void run_reverse(struct thread_stack *first, struct thread_stack *last) {
  for (; first < last; first++, last--) {
    struct thread_stack other = *first;
    *first = *last;
    *last = other;
  }
}

static void mapping_search(struct thread_stacks *stacks, const struct maps *maps, const struct mapping *mapping) {
  uint32_t first = stacks->count;
  struct thread_stack stack;
  for (uintptr_t end = mapping->end; end > mapping->start && stack_find(mapping, end, &stack); end = stack.start)
    stack_add(stacks, stack);
  if (stacks->count > first)
    run_reverse(&stacks->table[first], &stacks->table[stacks->count - 1]);
  else if (has_guard(maps, mapping))
    stack_add(stacks, (struct thread_stack){mapping->start, mapping->end, 0, false, true});
}

void thread_stacks_find(struct thread_stacks *stacks, const struct maps *maps) {
  *stacks = (struct thread_stacks){0};
  for (uint32_t i = 0; i < maps->count; i++) {
    const struct mapping *mapping = &maps->table[i];
    uint32_t access = mapping->flags & (MAPS_READ | MAPS_WRITE | MAPS_SHARED);
    if (strcmp(mapping->path, "[stack]") == 0)
      stack_add(stacks, (struct thread_stack){mapping->start, mapping->end, 0, true, true});
    else if (!*mapping->path && access == (MAPS_READ | MAPS_WRITE))
      mapping_search(stacks, maps, mapping);
  }
}
