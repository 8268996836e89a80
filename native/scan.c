#include "scan.h"

#include "flood.h"
#include "guard.h"
#include "holders.h"
#include "live.h"
#include "maps.h"
#include "maps_known.h"
#include "resident.h"
#include "roots.h"
#include "site.h"
#include "stop.h"
#include "sys.h"

#define NOTE_NO_MAPS                                                                                                   \
  "/proc/self/maps cannot be read: leaks may be reported that memory holds which no library and no thread is known by"
#define NOTE_NO_MEMORY "the leak scan did not run to its end: no memory was left for it"
#define NOTE_NO_TASKS "threads could not be listed (/proc/self/task): leaks may be reported that a thread still holds"
#define NOTE_LOOSE "a thread could not be stopped: what only its registers hold may be reported as leaked"
#define NOTE_ASLEEP "a sleeping thread could not be signalled: what only its registers hold may be reported as leaked"

struct scan {
  const struct scan_origin *origin;
  struct scan_result *result;
  struct maps maps;
  struct roots roots;
};

static void note_add(struct scan_result *result, const char *sentence) {
  if (result->note_count < SCAN_NOTES_MAX) result->notes[result->note_count++] = sentence;
}

static void threads_note(struct scan_result *result) {
  uint32_t count, seen[STOP_GONE + 1] = {0};
  const struct stop_thread *threads = stop_threads(&count);
  if (!stop_listed()) note_add(result, NOTE_NO_TASKS);
  for (uint32_t i = 0; i < count; i++) seen[threads[i].state]++;
  if (seen[STOP_LOOSE]) note_add(result, NOTE_LOOSE);
  if (seen[STOP_ASLEEP]) note_add(result, NOTE_ASLEEP);
}

// ---- the steps

static void roots_find(void *context) {
  struct scan *scan = context;
  roots_collect(&scan->roots, &scan->maps, scan->origin);
}

static void roots_flood(const struct roots *roots, bool data) {
  for (uint32_t i = 0; i < roots->count; i++)
    if ((roots->table[i].kind == ROOT_MAPPING) == data) flood_root(&roots->table[i]);
}

static void leak_count(site_id site, size_t bytes, uint32_t blocks, bool indirect, void *context) {
  struct scan_result *result = context;
  if (site.value >= result->leak_capacity) return; // made by a thread that could not be stopped
  struct scan_leak *leak = &result->leaks[site.value];
  leak->site = site;
  if (indirect)
    leak->indirect_bytes += bytes, leak->indirect_blocks += blocks;
  else
    leak->direct_bytes += bytes, leak->direct_blocks += blocks;
}

static void leaks_collect(struct scan_result *result) {
  flood_each_leak(leak_count, result);
  for (uint32_t i = 0; i < result->leak_capacity; i++)
    if (result->leaks[i].site.value) result->leaks[result->leak_count++] = result->leaks[i];
}

// Globals come before stacks: where both hold a block, the global is the better answer to who does.
static void memory_scan(struct scan *scan) {
  struct scan_result *result = scan->result;
  holders_begin(scan->origin);
  guard_begin();
  bool ok = guard_run(roots_find, scan) && scan->roots.complete;
  if (ok) {
    roots_flood(&scan->roots, true);
    roots_flood(&scan->roots, false);
    flood_root_blocks();
    flood_indirect();
    result->scanned_bytes = flood_bytes(&ok);
  }
  if (ok)
    leaks_collect(result);
  else
    note_add(result, NOTE_NO_MEMORY);
  guard_end();
  result->complete = ok;
}

static bool maps_learn(struct scan *scan) {
  if (maps_read(&scan->maps)) return true;
  maps_drop(&scan->maps);
  note_add(scan->result, NOTE_NO_MAPS);
  return maps_of_known(&scan->maps);
}

// What the scan maps for itself is mapped before the memory map is read, or else it would be taken for roots.
static void scan_prepared(struct scan *scan) {
  struct scan_result *result = scan->result;
  result->leak_capacity = site_count;
  result->leaks = sys_map(result->leak_capacity * sizeof *result->leaks);
  bool ok = live_scan_begin();
  if (!flood_begin() || !ok || !result->leaks)
    note_add(result, NOTE_NO_MEMORY);
  else if (!maps_learn(scan))
    note_add(result, NOTE_NO_MEMORY);
  else
    memory_scan(scan);
  maps_drop(&scan->maps);
  roots_drop(&scan->roots);
  flood_end();
  if (ok) live_scan_end();
}

HT_NOINLINE void scan_origin_fill(struct scan_origin *origin, uintptr_t stack_pointer) {
  uintptr_t rbx, r12, r13, r14, r15;
  __asm__ volatile("movq %%rbx, %0\n movq %%r12, %1\n movq %%r13, %2\n movq %%r14, %3\n movq %%r15, %4"
                   : "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15));
  *origin = (struct scan_origin){.stack_pointer = stack_pointer, .registers = {rbx, r12, r13, r14, r15}};
}

void scan_run(const struct scan_origin *origin, struct scan_result *result) {
  struct scan scan = {.origin = origin, .result = result};
  *result = (struct scan_result){0};
  threads_note(result);
  resident_begin();
  scan_prepared(&scan);
  resident_end();
}

void scan_result_drop(struct scan_result *result) {
  if (result->leaks) sys_unmap(result->leaks, result->leak_capacity * sizeof *result->leaks);
  holders_drop();
  *result = (struct scan_result){0};
}
