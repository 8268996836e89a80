#include "maps_known.h"

#include <elf.h>

#include "modules.h"
#include "stop.h"
#include "sys.h"
#include "thread.h"

#define PAGE_BYTES 4096ul
#define HEADERS_MAX_BYTES 4096u // the first page of a module
#define THREAD_MAPPINGS 2u      // stack and guard
#define MAIN_MAPPINGS 1u
#define DESCRIPTOR_BYTES 2304u // struct pthread of glibc 2.36, above the thread pointer
#define TLS_SPARE_BYTES 2048u  // the loader's reserve for libraries that come later (elf/dl-tls.c)

struct map_work {
  struct maps *maps;
  uint32_t capacity;
};

// Keeps the order by address; overlapping memory is known already.
static void mapping_insert(struct map_work *work, struct mapping mapping) {
  struct mapping *table = work->maps->table;
  uint32_t at = work->maps->count;
  while (at > 0 && table[at - 1].start >= mapping.end) at--;
  bool overlaps = at > 0 && table[at - 1].end > mapping.start;
  if (overlaps || mapping.start >= mapping.end || work->maps->count == work->capacity) return;
  for (uint32_t i = work->maps->count++; i > at; i--) table[i] = table[i - 1];
  table[at] = mapping;
}

// ---- modules

static const Elf64_Phdr *headers_of(const struct module *module, uint32_t *count) {
  const Elf64_Ehdr *elf = (const Elf64_Ehdr *)module->start;
  *count = 0;
  if (!module->current || module->flags & HT_MODULE_UNLOADED || !sys_readable(module->start)) return NULL;
  if (__builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
  if (elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(Elf64_Phdr) > HEADERS_MAX_BYTES) return NULL;
  *count = elf->e_phnum;
  return (const Elf64_Phdr *)(module->start + elf->e_phoff);
}

static void segment_add(struct map_work *work, const struct module *module, const Elf64_Phdr *header) {
  uintptr_t start = module->bias + header->p_vaddr, end = start + header->p_memsz;
  uint32_t flags = (header->p_flags & PF_R ? MAPS_READ : 0) | (header->p_flags & PF_W ? MAPS_WRITE : 0) |
                   (header->p_flags & PF_X ? MAPS_EXEC : 0);
  mapping_insert(work, (struct mapping){.start = start & ~(PAGE_BYTES - 1),
                                        .end = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
                                        .path = *module->path ? module->path : "/",
                                        .flags = flags});
}

static void segments_add(struct map_work *work) {
  for (uint32_t i = 0; i < module_count; i++) {
    uint32_t count;
    const Elf64_Phdr *headers = headers_of(&module_table[i], &count);
    for (uint32_t j = 0; j < count; j++)
      if (headers[j].p_type == PT_LOAD) segment_add(work, &module_table[i], &headers[j]);
  }
}

// At most what the loader keeps below a thread pointer for the modules that are there.
static size_t tls_bytes(void) {
  size_t bytes = TLS_SPARE_BYTES;
  for (uint32_t i = 0; i < module_count; i++) {
    uint32_t count;
    const Elf64_Phdr *headers = headers_of(&module_table[i], &count);
    for (uint32_t j = 0; j < count; j++)
      if (headers[j].p_type == PT_TLS) bytes += headers[j].p_memsz + headers[j].p_align;
  }
  return bytes;
}

// ---- threads

static void thread_mappings_count(struct thread *thread, void *count) {
  *(uint32_t *)count += thread->state == THREAD_ALIVE ? THREAD_MAPPINGS : 0;
}

// Under the stacks that it makes the C library puts a closed guard, which tells them from other memory.
static void stack_add(struct thread *thread, void *context) {
  uintptr_t low = thread->memo.stack_low, high = thread->memo.stack_high;
  if (thread->state != THREAD_ALIVE || low >= high) return;
  if (thread->is_main)
    return mapping_insert(
        context, (struct mapping){.start = low, .end = high, .path = "[stack]", .flags = MAPS_READ | MAPS_WRITE});
  if (!sys_readable(low) || !sys_readable(high - 8)) return; // has gone
  mapping_insert(context, (struct mapping){.start = low, .end = high, .path = "", .flags = MAPS_READ | MAPS_WRITE});
  mapping_insert(context, (struct mapping){.start = low - PAGE_BYTES, .end = low, .path = ""});
}

static uintptr_t own_pointer(void) {
  uintptr_t value;
  __asm__("mov %%fs:0, %0" : "=r"(value)); // tcbhead_t.tcb
  return value;
}

static uintptr_t main_thread_pointer(void) {
  uint32_t count, pid = (uint32_t)sys_pid();
  const struct stop_thread *threads = stop_threads(&count);
  if ((uint32_t)sys_tid() == pid) return own_pointer();
  for (uint32_t i = 0; i < count; i++)
    if (threads[i].tid == pid) return threads[i].thread_pointer;
  return 0;
}

// Other threads have theirs at the end of their stacks.
static void main_tls_add(struct map_work *work) {
  uintptr_t pointer = main_thread_pointer();
  if (!pointer) return;
  uintptr_t start = (pointer - tls_bytes()) & ~7ul, end = pointer + DESCRIPTOR_BYTES;
  for (uint32_t i = 0; i < work->maps->count; i++) {
    const struct mapping *other = &work->maps->table[i];
    if (other->end > start && other->end <= pointer) start = other->end;
  }
  mapping_insert(work, (struct mapping){.start = start, .end = end, .path = "", .flags = MAPS_READ | MAPS_WRITE});
}

static uint32_t mappings_count(void) {
  uint32_t total = MAIN_MAPPINGS;
  for (uint32_t i = 0; i < module_count; i++) {
    uint32_t count;
    headers_of(&module_table[i], &count);
    total += count;
  }
  thread_each(thread_mappings_count, &total);
  return total;
}

bool maps_of_known(struct maps *maps) {
  *maps = (struct maps){0};
  struct map_work work = {maps, mappings_count()};
  maps->table_bytes = work.capacity * sizeof *maps->table;
  maps->table = sys_map(maps->table_bytes);
  if (!maps->table) return false;
  segments_add(&work);
  thread_each(stack_add, &work);
  main_tls_add(&work);
  return true;
}
