// What `run` and `attach` have the user choose of a session in the same way.
#ifndef HT_SESSION_OPTIONS_H
#define HT_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DEPTH_MAX 1024   // native frames
#define PY_DEPTH_MAX 128 // Python's
#define EVERY_MS_DEFAULT 100

// Native frames kept of a stack when the command line says nothing (`*depth` 0): what HEAPTIDE_DEPTH says, or else the
// default. False after a complaint.
bool depth_choose(bool python, uint64_t *depth);

#endif
