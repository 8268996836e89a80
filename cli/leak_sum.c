#include "leak_sum.h"

#include <stdlib.h>

#include "memory.h"
#include "suppress.h"
#include "symbols.h"

#define NO_ENTRY 0u // entries are kept with 1 added

struct summing {
  const struct report *report;
  struct suppressions suppressions;
  struct symbols symbols;
  uint32_t *entries; // by the report's frame: entry of `symbols` + 1
};

static bool is_counted(const struct report *report, const struct ht_file_leak *leak) {
  const struct ht_file_site *site = &report->sites[leak->site];
  return leak_is_summed((enum ht_kind)site->kind, site->flags & HT_SITE_RESIDUE, false);
}

static void frame_want(struct summing *summing, uint32_t index) {
  const struct ht_file_frame *frame = &summing->report->frames[index];
  if (frame->kind != HT_FRAME_NATIVE || summing->entries[index]) return;
  const struct ht_file_module *module = &summing->report->modules[frame->a];
  if (module->flags & HT_MODULE_OWN) return;
  uint32_t named = symbols_module(&summing->symbols, summing->report->strings + module->path, module->build_id,
                                  module->build_id_bytes);
  summing->entries[index] = symbols_add(&summing->symbols, named, frame->b) + 1;
}

static void stack_want(struct summing *summing, const struct ht_file_leak *leak) {
  const struct report *report = summing->report;
  for (uint32_t node = report->sites[leak->site].node; node; node = report->nodes[node].parent)
    frame_want(summing, report->nodes[node].frame);
}

static bool frame_matches(const struct summing *summing, uint32_t index) {
  if (summing->entries[index] == NO_ENTRY) return false;
  const struct symbol *symbol = &summing->symbols.entries[summing->entries[index] - 1];
  const struct symbol_line *line = symbol->line_count ? symbol->lines : NULL;
  return suppressions_match(&summing->suppressions, line ? line->function : NULL, NULL,
                            summing->symbols.modules[symbol->module].path) >= 0;
}

static bool is_suppressed(const struct summing *summing, const struct ht_file_leak *leak) {
  const struct report *report = summing->report;
  for (uint32_t node = report->sites[leak->site].node; node; node = report->nodes[node].parent)
    if (frame_matches(summing, report->nodes[node].frame)) return true;
  return false;
}

uint64_t leak_sum_python_bytes(const struct report *report) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < report->leak_count; i++) {
    const struct ht_file_leak *leak = &report->leaks[i];
    const struct ht_file_site *site = &report->sites[leak->site];
    if (site->kind == HT_KIND_PYTHON && !(site->flags & HT_SITE_RESIDUE))
      bytes += leak->direct_bytes + leak->indirect_bytes;
  }
  return bytes;
}

uint64_t leak_sum_bytes(const struct report *report) {
  struct summing summing = {.report = report, .entries = memory_get(report->frame_count, sizeof(uint32_t))};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < report->leak_count; i++)
    if (is_counted(report, &report->leaks[i])) stack_want(&summing, &report->leaks[i]);
  symbols_resolve_functions(&summing.symbols);
  suppressions_add_builtin(&summing.suppressions);
  for (uint32_t i = 0; i < report->leak_count; i++) {
    const struct ht_file_leak *leak = &report->leaks[i];
    if (is_counted(report, leak) && !is_suppressed(&summing, leak)) bytes += leak->direct_bytes + leak->indirect_bytes;
  }
  suppressions_free(&summing.suppressions);
  symbols_free(&summing.symbols);
  free(summing.entries);
  return bytes;
}
