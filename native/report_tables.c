#include "report_tables.h"

#include <string.h>
#include <sys/auxv.h>

#include "maps.h"
#include "modules.h"
#include "process_info.h"
#include "ranges.h"
#include "report_residue.h"
#include "resident.h"
#include "site.h"
#include "stack_table.h"
#include "sys.h"

// ---- memory that madvise gave back

// Bytes of a range that no page backs any more.
static uint64_t range_missing_bytes(const struct range *range) {
  uint64_t size = range_bytes(range), resident = 0;
  uintptr_t start = range->start, run_end;
  while (start < range->end && resident_next(&start, &run_end, range->end, false)) {
    resident += run_end - start;
    start = run_end;
  }
  return resident < size ? size - resident : 0;
}

static void lazy_bytes_count(struct report_tables *tables) {
  uint32_t count;
  const struct range *ranges = range_array(&count);
  for (uint32_t i = 0; i < count; i++) {
    const struct range *range = &ranges[i];
    if (!(range->flags & RANGE_LAZY) || range->site.value >= tables->site_end || range->site.value == 0) continue;
    if (!tables->lazy_bytes) tables->lazy_bytes = sys_map(tables->site_end * sizeof(uint64_t));
    if (!tables->lazy_bytes) return;
    tables->lazy_bytes[range->site.value] += range_missing_bytes(range);
  }
}

// ---- numbering

// Frames that are interned after numbering began: one for each holder on a stack.
#define LATER_FRAMES 64u

static bool tables_start(struct report_tables *tables) {
  *tables =
      (struct report_tables){.site_end = site_count, .node_end = node_count, .frame_end = frame_count + LATER_FRAMES};
  bool started = numbering_start(&tables->sites, tables->site_end);
  started = numbering_start(&tables->nodes, tables->node_end) && started;
  started = numbering_start(&tables->frames, tables->frame_end) && started;
  // Python's names keep their ids: the blob comes first. Its byte 0 is the empty string's.
  if (string_bytes)
    buffer_append(&tables->strings, string_blob, string_bytes);
  else
    buffer_append(&tables->strings, "", 1);
  return started;
}

bool tables_begin(struct report_tables *tables) {
  bool made = tables_start(tables);
  resident_begin();
  lazy_bytes_count(tables);
  resident_end();
  return made;
}

bool tables_begin_now(struct report_tables *tables) {
  if (!tables_start(tables)) return false;
  tables->unsettled = true;
  tables->rising = count_is_rising();
  if (count_stands_still()) return true;
  size_t live_size = tables->site_end * sizeof(int64_t);
  int64_t *live_bytes = sys_map(live_size);
  tables->now = sys_map(tables->site_end * sizeof *tables->now);
  if (tables->now && live_bytes) count_sites_now(tables->now, live_bytes, tables->site_end);
  if (live_bytes) sys_unmap(live_bytes, live_size);
  return tables->now && live_bytes;
}

void tables_drop(struct report_tables *tables) {
  numbering_drop(&tables->sites);
  numbering_drop(&tables->nodes);
  numbering_drop(&tables->frames);
  if (tables->jit_names) sys_unmap(tables->jit_names, tables->frame_end * sizeof *tables->jit_names);
  if (tables->lazy_bytes) sys_unmap(tables->lazy_bytes, tables->site_end * sizeof(uint64_t));
  if (tables->now) sys_unmap(tables->now, tables->site_end * sizeof *tables->now);
  buffer_drop(&tables->strings);
}

void tables_want(struct report_tables *tables, site_id site) { numbering_want(&tables->sites, site.value); }

static bool figures_any(const struct site_figures *figures) {
  return (figures->allocations | figures->frees | figures->live_bytes | figures->live_blocks | figures->peak_bytes) !=
         0;
}

void tables_want_frame(struct report_tables *tables, uint32_t frame) { numbering_want(&tables->frames, frame); }

static void stack_want(struct report_tables *tables, uint32_t node) {
  for (; node_is_frame(node) && numbering_want(&tables->nodes, node); node = node_table[node].parent)
    tables_want_frame(tables, node_table[node].frame);
}

static void sites_want(struct report_tables *tables) {
  struct site_figures figures;
  for (uint32_t id = 1; id < tables->site_end; id++) {
    tables_figures(tables, (site_id){id}, &figures);
    if (!numbering_has(&tables->sites, id) && !figures_any(&figures)) continue;
    numbering_want(&tables->sites, id);
    stack_want(tables, site_table[id].node);
  }
}

void tables_number(struct report_tables *tables) {
  sites_want(tables);
  tables->site_used = numbering_count(&tables->sites);
  tables->node_used = numbering_count(&tables->nodes); // a node's parent keeps coming before it
  tables->frame_used = numbering_count(&tables->frames);
}

uint32_t tables_site(const struct report_tables *tables, site_id site) {
  return numbering_of(&tables->sites, site.value);
}

uint32_t tables_frame(const struct report_tables *tables, uint32_t frame) {
  return numbering_of(&tables->frames, frame);
}

uint32_t tables_string(struct report_tables *tables, const char *string) {
  return *string ? (uint32_t)buffer_append(&tables->strings, string, strlen(string) + 1) : 0;
}

void tables_figures(const struct report_tables *tables, site_id site, struct site_figures *figures) {
  memset(figures, 0, sizeof *figures);
  if (site_is_inherited(site)) return;
  if (tables->now) {
    *figures = tables->now[site.value];
    return;
  }
  if (tables->unsettled) return count_site_now(site, tables->rising, figures);
  count_site_figures(site, figures);
  uint64_t missing = tables->lazy_bytes ? tables->lazy_bytes[site.value] : 0;
  figures->live_bytes -= missing < figures->live_bytes ? missing : figures->live_bytes;
}

// ---- sections

static uint16_t site_flags(site_id site) {
  uint16_t flags = site_at(site)->flags & (uint16_t)~SITE_OF_START;
  bool native = site_at(site)->kind == HT_KIND_HEAP || site_at(site)->kind == HT_KIND_MMAP;
  return native && residue_is(site) ? flags | HT_SITE_RESIDUE : flags;
}

void tables_write_sites(struct report_tables *tables, struct writer *writer) {
  struct ht_file_site row = {0};
  writer_section(writer, HT_SECTION_SITES);
  writer_add(writer, &row, sizeof row);
  for (uint32_t id = 1; id < tables->site_end; id++) {
    if (!numbering_has(&tables->sites, id)) continue;
    struct site_figures figures;
    tables_figures(tables, (site_id){id}, &figures);
    row = (struct ht_file_site){
        .node = numbering_of(&tables->nodes, site_table[id].node),
        .kind = site_table[id].kind,
        .flags = site_flags((site_id){id}),
        .allocations = figures.allocations,
        .frees = figures.frees,
        .temporaries = figures.temporaries,
        .allocated_bytes = figures.allocated_bytes,
        .live_bytes = figures.live_bytes,
        .live_blocks = figures.live_blocks,
        .peak_bytes = figures.peak_bytes,
        .peak_blocks = figures.peak_blocks,
    };
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

void tables_write_nodes(struct report_tables *tables, struct writer *writer) {
  struct ht_file_node row = {0};
  writer_section(writer, HT_SECTION_NODES);
  writer_add(writer, &row, sizeof row);
  for (uint32_t id = 1; id < tables->node_end; id++) {
    if (!numbering_has(&tables->nodes, id)) continue;
    row = (struct ht_file_node){numbering_of(&tables->nodes, node_table[id].parent),
                                numbering_of(&tables->frames, node_table[id].frame)};
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

static struct ht_file_frame frame_row(const struct frame *frame) {
  struct ht_file_frame row = {.kind = frame->kind, .a = frame->module, .b = frame->value};
  if (frame->kind == HT_FRAME_PYTHON) {
    row.name = (uint32_t)(frame->value >> 32);
    row.b = (uint32_t)frame->value;
  }
  return row;
}

void tables_write_frames(struct report_tables *tables, struct writer *writer) {
  struct ht_file_frame row = {0};
  writer_section(writer, HT_SECTION_FRAMES);
  writer_add(writer, &row, sizeof row);
  for (uint32_t id = 1; id < tables->frame_end; id++) {
    if (!numbering_has(&tables->frames, id)) continue;
    row = frame_row(&frame_table[id]);
    if (tables->jit_names && tables->jit_names[id]) row.name = tables->jit_names[id];
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

// `ld.so PROGRAM`: the kernel started the loader, which has no interpreter, and /proc/self/exe is the loader.
static bool started_through_loader(void) { return getauxval(AT_BASE) == 0; }

static uint32_t mapped_path(struct report_tables *tables, const struct module *module) {
  struct maps maps;
  const struct mapping *mapping = maps_read(&maps) ? maps_find(&maps, module->start) : NULL;
  uint32_t path = mapping && mapping->path[0] == '/' ? tables_string(tables, mapping->path) : 0;
  maps_drop(&maps);
  return path;
}

// The loader has no name for the executable. A library's relative name went with the working folder of the time when
// its code was first seen, which may not be the one it was loaded from.
static uint32_t module_path(struct report_tables *tables, const struct module *module) {
  bool relative = module->path && strchr(module->path, '/') && module->given[0] != '/';
  uint32_t mapped = relative && module->current ? mapped_path(tables, module) : 0;
  if (mapped) return mapped;
  if (module->path && module->path[0]) return tables_string(tables, module->path);
  if (!(module->flags & HT_MODULE_MAIN)) return 0;
  uint32_t path = started_through_loader() ? mapped_path(tables, module) : 0;
  return path ? path : tables_string(tables, process_info()->exe);
}

void tables_write_modules(struct report_tables *tables, struct writer *writer) {
  writer_section(writer, HT_SECTION_MODULES);
  for (uint32_t i = 0; i < module_count; i++) {
    const struct module *module = &module_table[i];
    struct ht_file_module row = {
        .bias = module->bias,
        .start = module->start,
        .end = module->end,
        .path = module_path(tables, module),
        .flags = module->flags,
        .build_id_bytes = module->build_id_bytes,
    };
    memcpy(row.build_id, module->build_id, sizeof row.build_id);
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

void tables_write_strings(struct report_tables *tables, struct writer *writer) {
  writer_section(writer, HT_SECTION_STRINGS);
  writer_add(writer, tables->strings.data, tables->strings.bytes);
  writer_section_end(writer);
}
