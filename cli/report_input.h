// What every command that looks at reports takes from its command line: a folder, suppressions.
#ifndef HT_REPORT_INPUT_H
#define HT_REPORT_INPUT_H

#include <stdbool.h>

#include "options.h"
#include "suppress.h"

// The folder that was named, else the newest heaptide.* folder here, which is named on stderr; NULL after a line on
// stderr: there is none. *found is to be freed when the folder is no longer needed. `command`: its name.
const char *report_folder_choose(const char *command, const char *named, char **found);

// The built-in suppressions (unless `no_builtin`) and those of the files. False after a line on stderr.
bool suppressions_load(struct suppressions *suppressions, const struct option_list *files, bool no_builtin);

// Whether text may be coloured: not with `no_color`, nor where NO_COLOR is set (no-color.org).
bool colour_wanted(bool no_color);

#endif
