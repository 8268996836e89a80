// The interpreter's evaluator: the C function that runs Python code. From 3.11 on one call of it runs many frames.
#ifndef HT_EVALUATION_H
#define HT_EVALUATION_H

#include "../native/stack_merge.h"

// How native stacks tell which of their frames run which Python frames. Never by the function's name: the interpreter
// may be stripped, static, or compiled into handlers that call each other at their ends.
const struct merge_front *evaluation_front(void);

#endif
