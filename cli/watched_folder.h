// Which folder a traced process is recorded into.
#ifndef HT_WATCHED_FOLDER_H
#define HT_WATCHED_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// False after a line on stderr.
bool watched_folder(pid_t pid, char folder[PATH_MAX]);

#endif
