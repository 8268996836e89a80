// A judged report as one line of JSON, schema heaptide-report/1.
#ifndef HT_REPORT_JSON_H
#define HT_REPORT_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "judgement.h"

// `top`: rows of the peak, hotspots, temporaries, python and gpu lists.
void report_json(FILE *stream, const struct judgement *judgement, uint64_t top);

#endif
