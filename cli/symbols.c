#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
#include "demangle.h"
#include "memory.h"
#include "problem.h"
#include "progress.h"
#include "symbolizer.h"
#include "symbolizer_find.h"

// ---- what is to be named

uint32_t symbols_module(struct symbols *symbols, const char *path, const uint8_t *build_id, uint32_t build_id_bytes) {
  for (size_t i = 0; i < symbols->module_count; i++) {
    const struct symbol_module *module = &symbols->modules[i];
    if (module->build_id_bytes == build_id_bytes && memcmp(module->build_id, build_id, build_id_bytes) == 0 &&
        strcmp(module->path, path) == 0)
      return (uint32_t)i;
  }
  symbols->modules =
      memory_grow(symbols->modules, symbols->module_count, &symbols->module_capacity, sizeof *symbols->modules);
  struct symbol_module *added = &symbols->modules[symbols->module_count];
  *added = (struct symbol_module){.path = pool_text(&symbols->texts, path), .build_id_bytes = build_id_bytes};
  memcpy(added->build_id, build_id, build_id_bytes);
  return (uint32_t)symbols->module_count++;
}

static size_t entry_place(const struct symbols *symbols, uint32_t module, uint64_t address) {
  uint64_t hash = (address + module * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
  size_t place = (hash >> 20) & (symbols->entry_table_capacity - 1);
  for (uint32_t number; (number = symbols->entry_table[place]);) {
    const struct symbol *entry = &symbols->entries[number - 1];
    if (entry->module == module && entry->address == address) break;
    place = (place + 1) & (symbols->entry_table_capacity - 1);
  }
  return place;
}

static void entry_table_double(struct symbols *symbols) {
  free(symbols->entry_table);
  symbols->entry_table_capacity = symbols->entry_table_capacity ? symbols->entry_table_capacity * 2 : 1024;
  symbols->entry_table = memory_get(symbols->entry_table_capacity, sizeof *symbols->entry_table);
  for (size_t i = 0; i < symbols->entry_count; i++)
    symbols->entry_table[entry_place(symbols, symbols->entries[i].module, symbols->entries[i].address)] =
        (uint32_t)i + 1;
}

uint32_t symbols_add(struct symbols *symbols, uint32_t module, uint64_t address) {
  if (symbols->entry_count * 2 >= symbols->entry_table_capacity) entry_table_double(symbols);
  size_t place = entry_place(symbols, module, address);
  if (symbols->entry_table[place]) return symbols->entry_table[place] - 1;
  symbols->entries =
      memory_grow(symbols->entries, symbols->entry_count, &symbols->entry_capacity, sizeof *symbols->entries);
  symbols->entries[symbols->entry_count] = (struct symbol){.module = module, .address = address};
  symbols->entry_table[place] = (uint32_t)++symbols->entry_count;
  return (uint32_t)symbols->entry_count - 1;
}

// ---- the modules' files

static bool is_recorded_build(const struct symbol_module *module, const struct elf *elf) {
  uint32_t bytes = 0;
  const uint8_t *id = elf_build_id(elf, &bytes);
  return module->build_id_bytes == 0 ||
         (id && bytes == module->build_id_bytes && memcmp(id, module->build_id, bytes) == 0);
}

static void debug_file_open(struct symbols *symbols, struct symbol_module *module) {
  char *refused;
  char *path = debug_file_find(module->path, module->elf, &module->debug, &refused);
  if (refused)
    module->note =
        memory_format("The debug file %s belongs to another build of %s and is not used.", refused, module->path);
  if (path) module->object = pool_text(&symbols->texts, path);
  free(refused);
  free(path);
}

// Opens the module's file when it is first needed. A relative path is tried from here: the build-id tells.
static void module_open(struct symbols *symbols, struct symbol_module *module) {
  if (module->opened) return;
  module->opened = true;
  if (!strchr(module->path, '/')) return; // the kernel's vdso, or code in no file
  module->elf = elf_open(module->path);
  bool changed = module->elf && !is_recorded_build(module, module->elf);
  if (!module->elf || changed) {
    module->note = memory_format("The file %s %s: its functions have no names.", module->path,
                                 changed ? "has changed since it was recorded" : "cannot be read any more");
    elf_close(module->elf);
    module->elf = NULL;
    return;
  }
  if (!elf_has_lines(module->elf)) debug_file_open(symbols, module);
  if (!module->object) module->object = module->path;
}

// ---- names from symbol tables

static const char *elf_name(struct symbol_module *module, enum elf_symbol_kind kind, uint64_t address) {
  const char *name = module->debug ? elf_symbol_at(module->debug, kind, address) : NULL;
  return name || !module->elf ? name : elf_symbol_at(module->elf, kind, address);
}

// A symbol as its source has it, its version still behind it. New memory.
static char *symbol_shown(const char *symbol) {
  size_t at = symbol_version_at(symbol);
  if (!symbol[at]) return demangle(symbol);
  char *bare = memory_text(symbol, at), *shown = demangle(bare);
  char *whole = memory_format("%s%s", shown, symbol + at);
  free(bare);
  free(shown);
  return whole;
}

static void entry_name_by_elf(struct symbols *symbols, struct symbol *entry) {
  const char *name = elf_name(&symbols->modules[entry->module], ELF_FUNCTION, entry->address);
  if (!name) return;
  char *shown = symbol_shown(name);
  free(entry->lines);
  entry->lines = memory_get(1, sizeof *entry->lines);
  entry->lines[0].function = pool_text(&symbols->texts, shown);
  entry->line_count = 1;
  free(shown);
}

// Without lines to go by, llvm-symbolizer names an address after whatever symbol comes before it, however far away.
static void entry_check(struct symbols *symbols, struct symbol *entry) {
  bool unsure = entry->line_count == 1 && !entry->lines[0].file;
  if (unsure && !elf_name(&symbols->modules[entry->module], ELF_FUNCTION, entry->address)) entry->line_count = 0;
}

// llvm-symbolizer leaves names mangled that its own demangler does not know; libstdc++'s may.
static void entry_demangle(struct symbols *symbols, struct symbol *entry) {
  for (uint32_t i = 0; i < entry->line_count; i++) {
    const char *name = entry->lines[i].function;
    if (!name || strncmp(name, "_Z", 2) != 0) continue;
    char *shown = symbol_shown(name);
    entry->lines[i].function = pool_text(&symbols->texts, shown);
    free(shown);
  }
}

// ---- all at once

static bool debuginfod_wanted(void) {
  const char *urls = getenv("DEBUGINFOD_URLS");
  return urls && *urls;
}

// True when the symbol tables cannot give all that llvm-symbolizer could: lines, or a name in a mangling of its own.
static bool worth_asking(struct symbols *symbols, const struct symbol *entry, bool debuginfod) {
  struct symbol_module *module = &symbols->modules[entry->module];
  if (!module->object) return false;
  if (debuginfod || elf_has_lines(module->debug ? module->debug : module->elf)) return true;
  const char *name = elf_name(module, ELF_FUNCTION, entry->address);
  return name && !demangle_can(name);
}

static int query_compare(const void *left, const void *right) {
  const struct symbolizer_query *a = left, *b = right;
  int order = a->object == b->object ? 0 : strcmp(a->object, b->object);
  if (order) return order;
  return a->symbol->address < b->symbol->address ? -1 : a->symbol->address > b->symbol->address;
}

static struct symbolizer_query *queries_make(struct symbols *symbols, bool debuginfod, size_t *count) {
  struct symbolizer_query *queries = memory_get(symbols->entry_count - symbols->resolved_count, sizeof *queries);
  *count = 0;
  for (size_t i = symbols->resolved_count; i < symbols->entry_count; i++) {
    struct symbol *entry = &symbols->entries[i];
    if (worth_asking(symbols, entry, debuginfod))
      queries[(*count)++] = (struct symbolizer_query){symbols->modules[entry->module].object, entry, false};
  }
  qsort(queries, *count, sizeof *queries, query_compare);
  return queries;
}

// Asks one program, with the debuginfod servers first where the user named some.
static bool program_ask(struct symbols *symbols, const char *program, struct symbolizer_query *queries, size_t count,
                        bool *debuginfod) {
  struct problem problem;
  bool good = symbolizer_run(program, queries, count, &symbols->texts, *debuginfod, &problem);
  if (!good && *debuginfod) {
    progress_clear();
    problem_print(program, problem.why, problem.todo);
    *debuginfod = false;
    good = symbolizer_run(program, queries, count, &symbols->texts, false, &problem);
  }
  progress_clear();
  if (!good) problem_print(program, problem.why, problem.todo);
  return good;
}

static void queries_ask(struct symbols *symbols, struct symbolizer_query *queries, size_t count, bool debuginfod) {
  struct symbolizer_list programs = symbolizers_find();
  bool good = false;
  for (size_t i = 0; i < programs.count && !good; i++)
    good = program_ask(symbols, programs.paths[i], queries, count, &debuginfod);
  symbolizers_free(&programs);
  if (!good)
    problem_print("llvm-symbolizer", "none that works was found, so source lines are missing",
                  "install llvm or set HEAPTIDE_SYMBOLIZER");
}

static void modules_open(struct symbols *symbols) {
  for (size_t i = 0; i < symbols->entry_count; i++) module_open(symbols, &symbols->modules[symbols->entries[i].module]);
}

void symbols_resolve_functions(struct symbols *symbols) {
  modules_open(symbols);
  for (size_t i = 0; i < symbols->entry_count; i++) entry_name_by_elf(symbols, &symbols->entries[i]);
  symbol_versions_drop(symbols);
}

void symbols_resolve(struct symbols *symbols) {
  bool debuginfod = debuginfod_wanted();
  size_t count;
  modules_open(symbols);
  struct symbolizer_query *queries = queries_make(symbols, debuginfod, &count);
  if (count) queries_ask(symbols, queries, count, debuginfod);
  free(queries);
  for (size_t i = symbols->resolved_count; i < symbols->entry_count; i++) {
    entry_check(symbols, &symbols->entries[i]);
    entry_demangle(symbols, &symbols->entries[i]);
    if (symbols->entries[i].line_count == 0) entry_name_by_elf(symbols, &symbols->entries[i]);
  }
  symbol_versions_drop(symbols);
  symbols->resolved_count = symbols->entry_count;
}

const char *symbols_variable(struct symbols *symbols, uint32_t module, uint64_t address, bool tls) {
  module_open(symbols, &symbols->modules[module]);
  const char *name = elf_name(&symbols->modules[module], tls ? ELF_TLS : ELF_OBJECT, address);
  if (!name) return NULL;
  char *shown = symbol_shown(name);
  const char *kept = symbol_version_drop(symbols, shown);
  free(shown);
  return kept;
}

void symbols_free(struct symbols *symbols) {
  for (size_t i = 0; i < symbols->module_count; i++) {
    elf_close(symbols->modules[i].elf);
    elf_close(symbols->modules[i].debug);
    free(symbols->modules[i].note);
  }
  for (size_t i = 0; i < symbols->entry_count; i++) free(symbols->entries[i].lines);
  free(symbols->modules);
  free(symbols->entries);
  free(symbols->entry_table);
  free(symbols->dropped);
  pool_free(&symbols->texts);
  *symbols = (struct symbols){0};
}
