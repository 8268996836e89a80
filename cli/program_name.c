#include "program_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Options of python's command line that take the next argument as their value (python --help).
static bool takes_value(const char *option) {
  return strcmp(option, "-X") == 0 || strcmp(option, "-W") == 0 || strcmp(option, "--check-hash-based-pycs") == 0;
}

// The script or module of a python command line; NULL: neither (`-c`, or an interactive one).
static const char *python_script(char *const *argv) {
  for (int i = 1; argv[i]; i++) {
    if (argv[i][0] != '-') return base_name(argv[i]);
    if (strcmp(argv[i], "-m") == 0) return argv[i + 1];
    if (strcmp(argv[i], "-c") == 0 || !argv[i][1]) return NULL;
    if (takes_value(argv[i]) && !argv[++i]) return NULL;
  }
  return NULL;
}

void program_name(char *const *argv, char *name) {
  const char *found = base_name(argv[0]);
  if (strncmp(found, "python", 6) == 0) {
    const char *script = python_script(argv);
    if (script && script[0] && !strchr(script, '/')) found = script;
  }
  snprintf(name, PROGRAM_NAME_BYTES, "%s", found);
}

void program_name_of(const struct report *report, char *name) {
  const struct ht_file_process *process = report->process;
  char **argv = memory_get(process->argc + 2, sizeof *argv); // ended by a NULL
  argv[0] = (char *)report->strings + process->exe;          // where there are no arguments at all
  for (uint32_t i = 0; i < process->argc; i++) argv[i] = (char *)report_argument(report, i);
  program_name(argv, name);
  free(argv);
}
