#include "suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"
#include "pattern.h"

// Memory that libraries allocate once and never give back, by design. Each entry is a function's name there, so that
// nothing of the program's own can match.
static const char *const builtin[][2] = {
    {"^_dlerror_run$", "glibc: the text that dlerror returns"},
    {"^__gnu_cxx::__freeres", "libstdc++: the emergency pool for exceptions"},
    {"/eh_alloc.cc$", "libstdc++: the emergency pool for exceptions"},
    {"^_nl_load_locale", "glibc: loaded locales"},
    {"^__tzfile_read$", "glibc: the time zone's table"},
    {"^__nss_database_get$", "glibc: the name service's configuration"},
    {"^Py_InitializeFromConfig$", "CPython: what the interpreter makes for itself while it starts"},
    {"^Py_FinalizeEx$", "CPython: what the interpreter makes for itself while it ends"},
    {"^_PyMem_ArenaAlloc$", "CPython: arenas of small objects"},
    {"^_PyObject_ArenaMmap$", "CPython: arenas of small objects"},
    {"Objects/obmalloc.c$", "CPython: arenas of small objects"},
};

static void suppression_add(struct suppressions *suppressions, char *pattern, char *origin) {
  suppressions->items =
      memory_grow(suppressions->items, suppressions->count, &suppressions->capacity, sizeof *suppressions->items);
  suppressions->items[suppressions->count++] = (struct suppression){.pattern = pattern, .origin = origin};
}

void suppressions_add_builtin(struct suppressions *suppressions) {
  for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
    suppression_add(suppressions, memory_format("%s", builtin[i][0]), memory_format("built in, %s", builtin[i][1]));
}

// The line without blanks around it; changes it.
static char *line_trim(char *line) {
  line += strspn(line, " \t");
  size_t length = strlen(line);
  while (length && strchr(" \t\r\n", line[length - 1])) line[--length] = 0;
  return line;
}

static bool line_take(struct suppressions *suppressions, char *line, const char *path, int number,
                      struct problem *problem) {
  char *pattern = line_trim(line);
  if (!*pattern || *pattern == '#') return true;
  if (strncmp(pattern, "leak:", 5) == 0) pattern = line_trim(pattern + 5);
  if (!pattern[strspn(pattern, "^$*")])
    return problem_set(problem, "write leak:PATTERN", "line %d would suppress everything", number);
  suppression_add(suppressions, memory_format("%s", pattern), memory_format("%s:%d", path, number));
  return true;
}

bool suppressions_read(struct suppressions *suppressions, const char *path, struct problem *problem) {
  struct stat status;
  FILE *file = fopen(path, "re");
  if (!file || fstat(fileno(file), &status) != 0 || S_ISDIR(status.st_mode)) {
    problem_set(problem, "check the path given to --supp", "cannot be read: %s",
                file ? strerror(EISDIR) : strerror(errno));
    if (file) fclose(file);
    return false;
  }
  char *line = NULL;
  size_t capacity = 0;
  bool good = true;
  for (int number = 1; good && getline(&line, &capacity, file) >= 0; number++)
    good = line_take(suppressions, line, path, number, problem);
  free(line);
  fclose(file);
  return good;
}

int suppressions_match(const struct suppressions *suppressions, const char *function, const char *file,
                       const char *module) {
  const char *texts[] = {function, file, module};
  for (size_t i = 0; i < suppressions->count; i++)
    for (int k = 0; k < 3; k++)
      if (texts[k] && pattern_matches(suppressions->items[i].pattern, texts[k])) return (int)i;
  return -1;
}

void suppressions_print(const struct suppressions *suppressions) {
  for (size_t i = 0; i < suppressions->count; i++) {
    const struct suppression *item = &suppressions->items[i];
    printf("# %s; matched %llu bytes in %llu blocks\nleak:%s\n", item->origin, (unsigned long long)item->bytes,
           (unsigned long long)item->blocks, item->pattern);
  }
}

void suppressions_free(struct suppressions *suppressions) {
  for (size_t i = 0; i < suppressions->count; i++) {
    free(suppressions->items[i].pattern);
    free(suppressions->items[i].origin);
  }
  free(suppressions->items);
  *suppressions = (struct suppressions){0};
}
