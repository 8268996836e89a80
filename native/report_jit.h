// Names of code that belongs to no module, from the map that a just-in-time compiler may leave for perf:
// /tmp/perf-PID.map, lines `START SIZE NAME` with hexadecimal numbers
// (linux/tools/perf/Documentation/jit-interface.txt). They go into the report, since the file is gone when it is read
// elsewhere.
#ifndef HT_REPORT_JIT_H
#define HT_REPORT_JIT_H

#include "report_tables.h"

// Fills tables->jit_names. After tables_number; nothing happens when the file has no frame of such code.
void jit_names_find(struct report_tables *tables);

#endif
