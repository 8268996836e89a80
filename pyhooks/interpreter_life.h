// The moments of an interpreter's life at which something is to be done: while it starts the hooks are kept in;
// once it is up the frame reader is proved; before it is taken down Python's figures are taken.
#ifndef HT_INTERPRETER_LIFE_H
#define HT_INTERPRETER_LIFE_H

#include "../native/words.h"

// True until the interpreter is up.
extern bool interpreter_starting;

// Called by hooks while interpreter_starting: looks how far the interpreter is.
void interpreter_look(void);

#endif
