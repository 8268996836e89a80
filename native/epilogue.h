// Code without unwind information, as just-in-time compilers make it, which after a call only returns: its epilogue
// tells what it has on the stack. So do the trampolines of `python -X perf`.
#ifndef HT_EPILOGUE_H
#define HT_EPILOGUE_H

#include "cfi.h"

// The rule of the code at `return_address`. False: something else stands there. Nothing of the code's kind is assumed:
// whatever runs these instructions next has the frame that they take down.
bool epilogue_rule(uintptr_t return_address, struct cfi_rule *rule);

#endif
