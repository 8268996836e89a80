// A judged report as one line of JSON, schema heaptide-report/1.
#ifndef HT_REPORT_JSON_H
#define HT_REPORT_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "json_out.h"
#include "judgement.h"

enum { REPORT_JSON_RATE_DECIMALS = 3 };

// `top`: rows of the peak, hotspots, temporaries, python and gpu lists.
void report_json(FILE *stream, const struct judgement *judgement, uint64_t top);

// What it says but for the lists of sites and the timeline, as members of the object that is open in `out`.
void report_json_facts(struct json_out *out, const struct judgement *judgement);

#endif
