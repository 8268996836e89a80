#include "page_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "problem.h"

static bool not_written(const char *path) {
  problem_print(path, strerror(errno), "name another place for the page");
  return false;
}

static bool file_write(const char *path, const struct page_text *text, const struct page_data *data) {
  char *draft = memory_format("%s.%d", path, (int)getpid());
  FILE *stream = fopen(draft, "wbe");
  bool good = stream && page_write(stream, text, data);
  if (stream) good = fclose(stream) == 0 && good;
  good = good && rename(draft, path) == 0;
  if (!good) {
    not_written(path);
    if (stream) unlink(draft);
  }
  free(draft);
  return good;
}

bool page_put(const char *path, const struct page_text *text, const struct page_data *data) {
  if (strcmp(path, "-") == 0) return page_write(stdout, text, data) || not_written("stdout");
  return file_write(path, text, data);
}
