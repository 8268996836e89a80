#include "report_input.h"

#include <stdlib.h>

#include "problem.h"
#include "report_folder.h"

const char *report_folder_choose(const char *command, const char *named, char **found) {
  *found = NULL;
  if (named) return named;
  *found = report_folder_newest();
  if (*found)
    complain("%s: %s is the newest folder here", command, *found);
  else
    problem_print(command, "no heaptide.* folder with a report is here", "name one, or record one with heaptide run");
  return *found;
}

bool suppressions_load(struct suppressions *suppressions, const struct option_list *files, bool no_builtin) {
  struct problem problem;
  if (!no_builtin) suppressions_add_builtin(suppressions);
  for (int i = 0; i < files->count; i++) {
    if (suppressions_read(suppressions, files->values[i], &problem)) continue;
    problem_print(files->values[i], problem.why, problem.todo);
    return false;
  }
  return true;
}

bool colour_wanted(bool no_color) {
  const char *variable = getenv("NO_COLOR");
  return !no_color && !(variable && *variable);
}
