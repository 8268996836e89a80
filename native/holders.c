#include "holders.h"

#include <elf.h>
#include <ucontext.h>

#include "frame_owner.h"
#include "lock.h"
#include "modules.h"
#include "site.h"
#include "stack_table.h"
#include "sys.h"

// Paths beyond these many are not told apart any more: their blocks have no holder, or share that of the root they
// hang on.
#define RECORDS_MAX (1u << 18)
#define RECORDS_BY_WORD (1u << 17) // while there are fewer, each word of a root has records of its own
#define SLOTS (2u * RECORDS_MAX)
#define DEPTH_MAX 24u // a longer path (a list of two alternating kinds of nodes) leaves out links

struct record {
  uint32_t parent; // HOLDER_NONE: the root itself
  uint32_t site;
  uintptr_t address; // of the word in the root
  uint32_t tid;
  uint8_t source, kind, depth; // enum holder_source, enum root_kind
};

static struct {
  struct record *records; // [1, count)
  uint32_t *slots;        // record numbers by hash
  uint32_t *of_site;      // the record of the first block of each site that was reached
  uint32_t site_count, count;
  struct root_thread *threads;
  uint32_t thread_count, thread_capacity;
} holders;

// ---- records

static void thread_count(const struct root_thread *thread, void *count) {
  (void)thread;
  ++*(uint32_t *)count;
}

static void thread_note(const struct root_thread *thread, void *context) {
  (void)context;
  if (holders.thread_count < holders.thread_capacity) holders.threads[holders.thread_count++] = *thread;
}

bool holders_begin(const struct scan_origin *origin) {
  holders_drop();
  roots_each_thread(origin, thread_count, &holders.thread_capacity);
  holders.site_count = site_count;
  holders.count = 1;
  holders.records = sys_map(RECORDS_MAX * sizeof *holders.records);
  holders.slots = sys_map(SLOTS * sizeof *holders.slots);
  holders.of_site = sys_map(holders.site_count * sizeof *holders.of_site);
  holders.threads = sys_map(holders.thread_capacity * sizeof *holders.threads);
  bool ok = holders.records && holders.slots && holders.of_site && holders.threads;
  if (ok)
    roots_each_thread(origin, thread_note, NULL);
  else
    holders_drop();
  return ok;
}

void holders_drop(void) {
  if (holders.records) sys_unmap(holders.records, RECORDS_MAX * sizeof *holders.records);
  if (holders.slots) sys_unmap(holders.slots, SLOTS * sizeof *holders.slots);
  if (holders.of_site) sys_unmap(holders.of_site, holders.site_count * sizeof *holders.of_site);
  if (holders.threads) sys_unmap(holders.threads, holders.thread_capacity * sizeof *holders.threads);
  __builtin_memset(&holders, 0, sizeof holders);
}

static bool record_equal(const struct record *a, const struct record *b) {
  return a->parent == b->parent && a->site == b->site && a->address == b->address && a->tid == b->tid &&
         a->source == b->source && a->kind == b->kind;
}

static uint32_t record_slot(const struct record *record) {
  uint64_t hash =
      record->address * 0x9E3779B97F4A7C15ull ^ ((uint64_t)record->parent << 32 | record->site) * 0xC2B2AE3D27D4EB4Full;
  return (uint32_t)(hash >> 40) & (SLOTS - 1);
}

static uint32_t record_intern(const struct record *wanted) {
  if (!holders.records) return HOLDER_NONE;
  uint32_t at = record_slot(wanted);
  for (; holders.slots[at]; at = (at + 1) & (SLOTS - 1))
    if (record_equal(&holders.records[holders.slots[at]], wanted)) return holders.slots[at];
  if (holders.count == RECORDS_MAX) return HOLDER_NONE;
  uint32_t id = holders.count++;
  holders.records[id] = *wanted;
  holders.slots[at] = id;
  if (wanted->site < holders.site_count && !holders.of_site[wanted->site]) holders.of_site[wanted->site] = id;
  return id;
}

uint32_t holder_at_root(const struct root *root, uintptr_t address, site_id site) {
  bool few = holders.count < RECORDS_BY_WORD;
  return record_intern(&(struct record){.site = site.value,
                                        .address = few ? address : root->start,
                                        .tid = root->tid,
                                        .source = HOLDER_SOURCE_WORD,
                                        .kind = (uint8_t)root->kind});
}

uint32_t holder_at_source(enum holder_source source, site_id site) {
  return record_intern(&(struct record){.site = site.value, .source = (uint8_t)source});
}

uint32_t holder_at_block(uint32_t parent, site_id site) {
  if (parent == HOLDER_NONE) return HOLDER_NONE;
  const struct record *holder = &holders.records[parent];
  if (holder->site == site.value) return parent; // the next node of a list: the path says so once
  if (holder->depth == DEPTH_MAX) {
    parent = holder->parent;
    holder = &holders.records[parent];
  }
  return record_intern(&(struct record){.parent = parent, .site = site.value, .depth = (uint8_t)(holder->depth + 1)});
}

// ---- links

// The executable's thread-local block ends at the thread pointer (variant II, "ELF Handling For Thread-Local
// Storage"); where other modules' blocks lie only the loader knows.
static const struct module *executable(uintptr_t *tls_bytes, uint32_t *index) {
  for (uint32_t i = 0; i < module_count; i++) {
    const struct module *module = &module_table[i];
    if (!(module->flags & HT_MODULE_MAIN) || !module->current) continue;
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)module->start;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(module->start + elf->e_phoff);
    *index = i;
    *tls_bytes = 0;
    for (int j = 0; j < elf->e_phnum; j++)
      if (headers[j].p_type == PT_TLS) {
        uintptr_t align = headers[j].p_align ? headers[j].p_align : 1;
        *tls_bytes = (headers[j].p_memsz + align - 1) & ~(align - 1);
      }
    return module;
  }
  return NULL;
}

// struct pthread lies at the thread pointer: pthread_setspecific's values, the DTV.
#define DESCRIPTOR_BYTES 2304u // sizeof(struct pthread) in glibc 2.36

static bool is_in_descriptor(uintptr_t address) {
  for (uint32_t i = 0; i < holders.thread_count; i++) {
    uintptr_t pointer = holders.threads[i].thread_pointer;
    if (pointer && address - pointer < DESCRIPTOR_BYTES) return true;
  }
  return false;
}

static bool link_tls(uintptr_t address, struct scan_holder_link *link) {
  uintptr_t bytes;
  uint32_t index;
  if (!executable(&bytes, &index)) return false;
  for (uint32_t i = 0; i < holders.thread_count; i++) {
    uintptr_t pointer = holders.threads[i].thread_pointer;
    if (!pointer || pointer - address - 1 >= bytes) continue;
    *link = (struct scan_holder_link){HT_HOLDER_TLS, index, address - (pointer - bytes), NULL, 0};
    return true;
  }
  return false;
}

static bool link_global(uintptr_t address, struct scan_holder_link *link) {
  for (uint32_t i = 0; i < module_count; i++) {
    const struct module *module = &module_table[i];
    if (!module->current || address < module->start || address >= module->end) continue;
    *link = (struct scan_holder_link){HT_HOLDER_GLOBAL, i, address - module->bias, NULL, 0};
    return true;
  }
  return false;
}

static struct scan_holder_link link_text(const char *text) {
  return (struct scan_holder_link){HT_HOLDER_TEXT, 0, 0, text, 0};
}

// A parked thread has its registers; the calling one was in a function of ours that keeps a frame pointer (scan.h).
static struct frame_start thread_frame(const struct root_thread *thread) {
  if (!thread->stopped) {
    const uintptr_t *frame = (const uintptr_t *)thread->stack_pointer;
    return (struct frame_start){frame[1], thread->stack_pointer + 16, frame[0], false};
  }
  const uintptr_t *registers = thread->stopped->registers;
  return (struct frame_start){registers[REG_RIP], registers[REG_RSP], registers[REG_RBP], true};
}

static uint32_t stack_frame(uint32_t tid, uintptr_t address) {
  for (uint32_t i = 0; i < holders.thread_count; i++) {
    const struct root_thread *thread = &holders.threads[i];
    if (thread->tid != tid || !thread->stack_pointer) continue;
    if (thread->stopped && thread->stopped->state != STOP_PARKED) return 0;
    struct frame_start start = thread_frame(thread);
    bool exact;
    uintptr_t pc = frame_owner(&start, address ? address : start.stack_pointer, &exact);
    if (!pc) return 0;
    lock_take(site_lock());
    uint32_t frame = frame_native_locked(pc, exact);
    lock_drop(site_lock());
    return frame;
  }
  return 0;
}

static struct scan_holder_link link_stack(uint32_t tid, uintptr_t address) {
  return (struct scan_holder_link){HT_HOLDER_STACK, tid, address, NULL, stack_frame(tid, address)};
}

static struct scan_holder_link link_root(const struct record *record) {
  struct scan_holder_link link;
  if (record->source == HOLDER_SOURCE_LOADER) return link_text("the dynamic loader");
  if (record->source == HOLDER_SOURCE_PARENT || record->kind == ROOT_INHERITED)
    return link_text("memory of the parent process");
  if (record->kind == ROOT_START) return link_text("a thread that was being started");
  if (record->kind != ROOT_REGISTERS && link_tls(record->address, &link)) return link;
  if (is_in_descriptor(record->address)) return link_text("the C library's data of a thread (pthread_setspecific)");
  if (record->kind == ROOT_STACK) return link_stack(record->tid, record->address);
  if (record->kind == ROOT_REGISTERS) return link_stack(record->tid, 0);
  return link_global(record->address, &link) ? link : link_text("memory that no recorded call mapped");
}

// Blocks without a site of their own (what an interpreter keeps for itself) are left out of the way.
static uint32_t links_of_blocks(uint32_t *id, struct scan_holder_link *links, uint32_t capacity) {
  uint32_t used = 0;
  for (; holders.records[*id].parent; *id = holders.records[*id].parent) {
    uint32_t holder = holders.records[holders.records[*id].parent].site;
    if (holder == 0 || used == capacity) continue;
    links[used++] = (struct scan_holder_link){HT_HOLDER_SITE, holder, 0, NULL, 0};
  }
  return used;
}

uint32_t scan_holder(site_id site, struct scan_holder_link *links, uint32_t capacity) {
  if (!holders.of_site || site.value >= holders.site_count || capacity == 0) return 0;
  uint32_t id = holders.of_site[site.value];
  if (id == HOLDER_NONE) return 0;
  uint32_t used = links_of_blocks(&id, links, capacity - 1);
  links[used++] = link_root(&holders.records[id]);
  return used;
}
