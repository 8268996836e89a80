#include "advice.h"

#include "holders.h"
#include "memory.h"
#include "runtime_frame.h"

#define PYTHON_ASKED (HT_PROCESS_PYTHON | HT_PROCESS_PYTHON_ABSENT | HT_PROCESS_PYTHON_REFUSED)

// NULL: no report without one is known, but a file may say anything.
static const struct ht_file_module *main_module(const struct report *report, uint32_t *number) {
  for (*number = 0; *number < report->module_count; ++*number)
    if (report->modules[*number].flags & HT_MODULE_MAIN) return &report->modules[*number];
  return NULL;
}

// Whether code of the module was to be named and no line of it could be, for want of debug info.
static bool lacks_debug_info(const struct symbols *symbols, uint32_t number) {
  const struct symbol_module *module = &symbols->modules[number];
  if (!module->elf || elf_has_lines(module->debug ? module->debug : module->elf)) return false;
  bool asked = false;
  for (size_t i = 0; i < symbols->entry_count; i++) {
    const struct symbol *entry = &symbols->entries[i];
    if (entry->module != number) continue;
    if (entry->line_count && entry->lines[0].file) return false; // of a debuginfod server
    asked = true;
  }
  return asked;
}

char *advice_make(const struct report *report, const struct symbols *symbols, const uint32_t *symbol_modules) {
  uint32_t number;
  const struct ht_file_module *module = main_module(report, &number);
  if (!module) return NULL;
  const char *path = report->strings + module->path;
  if (report->python_missed)
    return memory_format("--py found no CPython: no program of this run offers its functions (a stripped interpreter "
                         "may offer none, another Python has none); all memory is shown as native code's.");
  if (runtime_frame_is_python(path))
    return report->process->flags & PYTHON_ASKED
               ? NULL
               : memory_format("Recorded without --py: of Python's own code no lines and no objects are known.");
  if (!lacks_debug_info(symbols, symbol_modules[number])) return NULL;
  return memory_format("%s has no debug info, so no lines of it are known: build it with -g (a distribution's: set "
                       "DEBUGINFOD_URLS).",
                       path_name(path));
}
