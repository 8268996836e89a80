// Options for GPUs.
#ifndef HT_GPU_OPTIONS_H
#define HT_GPU_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

// `text` is `all` or a list of `sites`, `streams`, `frag` joined by commas. False after a complaint.
bool gpu_timeline_parse(const char *command, const char *text, uint64_t *parts);

// Sets the variables by which frameworks leave their pools, for the program to be started. One that the user has set
// stays as it is and is named on stderr. False: no memory.
bool gpu_pools_off(void);

#endif
