// Recordings in the formats of other tools. One file a format, one line in the table of export.c.
#ifndef HT_EXPORT_H
#define HT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report_set.h"

// `what`: one of MEASURE_CHOICES, where the format holds a single figure. False: it could not be written for want of
// memory or because a library failed; errors of the stream are looked at by the caller.
typedef bool export_write(FILE *stream, const struct report_set *set, const char *what);

// Who recorded the first `count` reports, and whether their figures are estimates: for a format's comment. New memory.
char *export_recorded_words(const struct report_set *set, size_t count);

export_write export_speedscope, export_pprof, export_chrome, export_massif, export_csv;

#endif
