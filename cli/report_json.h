// A judged report as one line of JSON, schema heaptide-report/1.
#ifndef HT_REPORT_JSON_H
#define HT_REPORT_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "judgement.h"

// `top`: rows of the peak, hotspots, temporaries, python and gpu lists. `notes`: sentences to add to the report's own.
void report_json(FILE *stream, const struct judgement *judgement, uint64_t top, char *const *notes, size_t note_count);

#endif
