// How `heaptide attach --py` puts Python's hooks in: the two sides' agreement.
//
// The command calls ht_python_enter (or ht_python_leave) in one of the process's threads. That one may hold the GIL, or
// not, so it starts a thread of its own there, which waits for the GIL as any thread of the interpreter does. How far
// that one is stands in ht_python_state, which the command reads.
#ifndef HT_ATTACH_PYTHON_H
#define HT_ATTACH_PYTHON_H

enum python_attach_state {
  PYTHON_ATTACH_OUT,
  PYTHON_ATTACH_WAITING,  // for the GIL, to enter
  PYTHON_ATTACH_ENTERING, // with the GIL
  PYTHON_ATTACH_IN,
  PYTHON_ATTACH_LEAVING, // waits for the GIL, or has it
  PYTHON_ATTACH_LEFT,    // the last report has been begun
  // Not in, and why:
  PYTHON_ATTACH_ABSENT,      // there is no CPython here
  PYTHON_ATTACH_UNSUPPORTED, // one that the hooks do not fit
  PYTHON_ATTACH_DOWN,        // its interpreter is not up
  PYTHON_ATTACH_OTHER,       // another tool's allocators are set, or debugging ones
  PYTHON_ATTACH_SEVERAL,     // it has several interpreters, each with a lock of its own
};

#endif
