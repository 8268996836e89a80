// What a run is called after: the script where an interpreter runs one.
#ifndef HT_PROGRAM_NAME_H
#define HT_PROGRAM_NAME_H

#include "model.h"

#define PROGRAM_NAME_BYTES 256

// Writes the base name of argv[0] to `name`; for `python [options] train.py` train.py, for `python -m pytest` pytest.
void program_name(char *const *argv, char *name);

// The same for a recorded process; without arguments its executable's name.
void program_name_of(const struct report *report, char *name);

#endif
