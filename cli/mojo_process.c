#include "mojo_process.h"

#include <string.h>

#include "memory.h"

// Seen on Mojo 1.2.0 and max-core 26.7.0. Every Mojo process has the library; the first one is
// `sh -c "amd-smi metric --gpu 0 ..."`, by system() when a context for a GPU is made.
#define RUNTIME_LIBRARY "/libAsyncRTRuntimeGlobals.so"
#define HEALTH_CHECK "amd-smi "
#define CRASH_HANDLER "/modular-crashpad-handler"

static bool ends_with(const char *text, const char *end) {
  size_t bytes = strlen(text), end_bytes = strlen(end);
  return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static bool is_mojo(const struct report *report) {
  for (uint32_t i = 0; i < report->module_count; i++)
    if (ends_with(report->strings + report->modules[i].path, RUNTIME_LIBRARY)) return true;
  return false;
}

const char *mojo_process_note(const struct report *report) {
  bool unnamed = false;
  for (uint32_t i = 1; i < report->frame_count; i++)
    unnamed |= report->frames[i].kind == HT_FRAME_JIT && !report->frames[i].name;
  if (!unnamed || !is_mojo(report)) return NULL;
  return "Code that Mojo compiled at run time (mojo run) has no names and no unwind information: stacks end at its "
         "innermost frame; mojo build gives whole ones.";
}

// ---- helpers

static const char *argument(const struct report *report, uint32_t index) {
  const char *at = report->strings + report->process->argv;
  if (index >= report->process->argc) return "";
  for (uint32_t i = 0; i < index; i++) at += strlen(at) + 1;
  return at;
}

// glibc's system() says `sh -c -- COMMAND` from 2.38 on.
static bool is_health_check(const struct report *report) {
  uint32_t command = strcmp(argument(report, 2), "--") == 0 ? 3 : 2;
  return strcmp(argument(report, 0), "sh") == 0 && strcmp(argument(report, 1), "-c") == 0 &&
         strncmp(argument(report, command), HEALTH_CHECK, strlen(HEALTH_CHECK)) == 0;
}

struct mojo_process mojo_process_of(const struct report *report) {
  const struct ht_file_process *process = report->process;
  return (struct mojo_process){.pid = process->pid,
                               .ppid = process->ppid,
                               .main = process->flags & HT_PROCESS_MAIN,
                               .mojo = is_mojo(report),
                               .health_check = is_health_check(report),
                               .crash_handler = ends_with(report->strings + process->exe, CRASH_HANDLER)};
}

// By its parent's report, of whichever image; a parent that left none is nobody's helper.
static bool is_helper(const struct mojo_process *processes, size_t count, const bool *known,
                      const struct mojo_process *process) {
  if (process->main) return false;
  if (process->crash_handler) return true;
  for (size_t i = 0; i < count; i++) {
    if (processes[i].pid != process->ppid) continue;
    if (known[i] || (process->health_check && processes[i].mojo)) return true;
  }
  return false;
}

bool *mojo_helpers_find(const struct mojo_process *processes, size_t count) {
  bool *helpers = memory_get(count, sizeof *helpers);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < count; i++) {
      if (helpers[i] || !is_helper(processes, count, helpers, &processes[i])) continue;
      helpers[i] = more = true;
    }
  }
  return helpers;
}
