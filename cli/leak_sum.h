// What a report's leaks add up to, for the closing line of a run: by the report's own rules, with no source lines
// looked up, which would take the time of llvm-symbolizer.
#ifndef HT_LEAK_SUM_H
#define HT_LEAK_SUM_H

#include <stdint.h>

#include "model.h"

// Bytes, suppressed ones left out. The built-in suppressions name functions; a function that was inlined, which only
// debug information can tell, is not found here.
uint64_t leak_sum_bytes(const struct report *report);

// Of Python objects, which are no part of the above.
uint64_t leak_sum_python_bytes(const struct report *report);

#endif
