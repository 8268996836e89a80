// The modules that another process has mapped.
#ifndef HT_PROCESS_MAPS_H
#define HT_PROCESS_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_module {
  uint64_t base;       // where its file's beginning lies
  uint64_t code, end;  // its code
  char path[PATH_MAX]; // as that process has it
  char file[PATH_MAX]; // the same file as seen from here
};

// The first module whose path contains `part`. False: none, or the process cannot be looked at (errno is not 0 then).
bool process_module_find(pid_t pid, const char *part, struct process_module *found);

// The file that it runs. False: errno says why not, and the path is empty.
bool process_program_path(pid_t pid, char path[PATH_MAX]);

// Each module that has code.
void process_modules_each(pid_t pid, void (*visit)(const struct process_module *module, void *context), void *context);

#endif
