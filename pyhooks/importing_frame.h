// What the import system allocates belongs to the import that set it to work.
//
// In Python code it is dozens of lines deep, and modules import modules. What counts is the outermost import: the one
// that the program would have to do without.
#ifndef HT_IMPORTING_FRAME_H
#define HT_IMPORTING_FRAME_H

#include "running_frame.h"

// Whether the code object is the import system's own (Lib/importlib/_bootstrap.py, _bootstrap_external.py).
bool importing_code(const char *code);

// The frame of the outermost import that is under way in the thread, whose running code is the import system's. False:
// there is none, as while the interpreter starts.
bool importing_frame_find(const void *thread_state, struct running_frame *importing);

// An interpreter starts after another one ended: its code objects are others.
void importing_begin_again(void);

#endif
