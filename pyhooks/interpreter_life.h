// The moments of an interpreter's life at which something is to be done: while it starts the hooks are kept in;
// once it is up the frame reader is proved; before it is taken down Python's figures are taken.
#ifndef HT_INTERPRETER_LIFE_H
#define HT_INTERPRETER_LIFE_H

#include "../native/words.h"

enum interpreter_phase {
  INTERPRETER_UP,
  INTERPRETER_STARTING,
  INTERPRETER_PREPARING, // heaptide's own callback runs: what it allocates is nobody's line
};
extern enum interpreter_phase interpreter_phase;

// Whether frames may be read without asking the interpreter: it is up, and the reader was proved.
bool interpreter_frames_readable(void);

// Called by hooks while INTERPRETER_STARTING: looks how far the interpreter is.
void interpreter_look(void);

// An interpreter that is up already; the caller holds the GIL in a thread of its own.
void interpreter_attach(void);
// The same: it is left alone from now on.
void interpreter_detach(void);

// Called by hooks after the end: a program that embeds Python may start it again. What it does until it is up is not
// recorded.
void interpreter_look_again(void);

// Called by hooks now and then, with the GIL: keeps the end of the interpreter in sight.
void interpreter_watch(void);

#endif
