#include "symbolizer_find.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define NAME "llvm-symbolizer"

// Takes `path` over.
static void list_add(struct symbolizer_list *list, char *path) {
  for (size_t i = 0; i < list->count; i++) {
    if (strcmp(list->paths[i], path) == 0) {
      free(path);
      return;
    }
  }
  list->paths = memory_grow(list->paths, list->count, &list->capacity, sizeof *list->paths);
  list->paths[list->count++] = path;
}

// The number behind `llvm-symbolizer-`, -1 for another name.
static long version_of(const char *path) {
  const char *suffix = strrchr(path, '/') + 1 + strlen(NAME);
  char *end;
  long version = *suffix == '-' ? strtol(suffix + 1, &end, 10) : -1;
  return *suffix == '-' && end > suffix + 1 && !*end ? version : -1;
}

static int version_compare(const void *left, const void *right) {
  long a = version_of(*(char *const *)left), b = version_of(*(char *const *)right);
  return a > b ? -1 : a < b;
}

// Adds what matches `pattern` and can be executed; by version where `versions`, else in the order of the names.
static void list_add_matching(struct symbolizer_list *list, const char *pattern, bool versions) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) return;
  if (versions) qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, version_compare);
  for (size_t i = 0; i < found.gl_pathc; i++)
    if (access(found.gl_pathv[i], X_OK) == 0 && (!versions || version_of(found.gl_pathv[i]) >= 0))
      list_add(list, memory_text(found.gl_pathv[i], strlen(found.gl_pathv[i])));
  globfree(&found);
}

// Calls list_add_matching for `name` in every folder of PATH.
static void list_add_from_path(struct symbolizer_list *list, const char *name, bool versions) {
  const char *path = getenv("PATH");
  for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
    int folder = (int)strcspn(at, ":");
    if (folder == 0) continue;
    char *pattern = memory_format("%.*s/%s", folder, at, name);
    list_add_matching(list, pattern, versions);
    free(pattern);
  }
}

static void list_add_named(struct symbolizer_list *list) {
  const char *named = getenv("HEAPTIDE_SYMBOLIZER");
  if (!named || !*named) return;
  list->first_is_named = true;
  if (!strchr(named, '/')) list_add_from_path(list, named, false);
  if (list->count == 0) list_add(list, memory_text(named, strlen(named)));
}

// The mojo wheel is looked for where Pythons keep packages: the active environment and the usual prefixes.
static void list_add_mojo(struct symbolizer_list *list) {
  const char *home = getenv("HOME"), *venv = getenv("VIRTUAL_ENV");
  char *user = memory_format("%s/.local", home ? home : "");
  const char *prefixes[] = {venv, user, "/usr/local", "/usr"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (!prefixes[i] || !*prefixes[i]) continue;
    char *pattern = memory_format("%s/lib/python3*/*-packages/modular/bin/" NAME, prefixes[i]);
    list_add_matching(list, pattern, false);
    free(pattern);
  }
  free(user);
}

struct symbolizer_list symbolizers_find(void) {
  struct symbolizer_list list = {0};
  list_add_named(&list);
  list_add_from_path(&list, NAME, false);
  list_add_from_path(&list, NAME "-[0-9]*", true);
  list_add_matching(&list, "/opt/rocm*/llvm/bin/" NAME, false);
  list_add_mojo(&list);
  return list;
}

void symbolizers_free(struct symbolizer_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->paths[i]);
  free(list->paths);
  *list = (struct symbolizer_list){0};
}
