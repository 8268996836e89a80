#include "problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

bool problem_set(struct problem *problem, const char *todo, const char *why_format, ...) {
  va_list arguments;
  va_start(arguments, why_format);
  vsnprintf(problem->why, sizeof problem->why, why_format, arguments);
  va_end(arguments);
  snprintf(problem->todo, sizeof problem->todo, "%s", todo);
  return false;
}

void problem_print(const char *what, const char *why, const char *todo) {
  char *line = NULL;
  if (asprintf(&line, "%s: %s; %s", what, why, todo) < 0) return;
  for (char *at = line; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
  complain("%s", line);
  free(line);
}
