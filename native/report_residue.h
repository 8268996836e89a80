// What a Python interpreter keeps for itself and never gives back: interned strings, static types, the books of its
// arenas. It is no leak of the program's.
#ifndef HT_REPORT_RESIDUE_H
#define HT_REPORT_RESIDUE_H

#include "words.h"

// Whether the site's stack is the interpreter's alone: its frames and libc's, with no line of Python and nothing
// else's.
bool residue_is(site_id site);

#endif
