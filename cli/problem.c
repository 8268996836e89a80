#include "problem.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Writes to stderr; a closed pipe or a limit on file sizes must not end heaptide, which owes CMD's status.
static void write_unharmed(const char *line, size_t length) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  struct sigaction pipe_before, size_before;
  sigaction(SIGPIPE, &ignore, &pipe_before);
  sigaction(SIGXFSZ, &ignore, &size_before);
  ssize_t written = write(STDERR_FILENO, line, length);
  (void)written; // nobody listens: there is nowhere else to say it
  sigaction(SIGPIPE, &pipe_before, NULL);
  sigaction(SIGXFSZ, &size_before, NULL);
}

void complain(const char *format, ...) {
  char line[8192]; // two paths fit
  int start = snprintf(line, sizeof line, "heaptide: ");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
  va_end(arguments);
  size_t length = strlen(line);
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
      line[i] = '?'; // a file's name must not make two lines of it, nor move the cursor
  line[length++] = '\n';
  write_unharmed(line, length);
}

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
