// The GPU's part of a report, as text and as JSON.
#ifndef HT_REPORT_GPU_H
#define HT_REPORT_GPU_H

#include "json_out.h"
#include "judgement.h"
#include "text_out.h"

// Allocations that failed for want of memory: they open the report.
void report_gpu_failures(struct text_out *out, const struct judgement *judgement, uint64_t top);
// The GPU section; nothing where no GPU was used.
void report_gpu_text(struct text_out *out, const struct judgement *judgement, uint64_t top);

// Memory of a device, as the program learnt it; 0: unknown.
uint64_t gpu_total_bytes(const struct report *report, uint32_t device);

void report_gpu_json(struct json_out *out, const struct judgement *judgement, uint64_t top);
// The list `streams` of the timeline, and `frag` where it was asked for.
void report_gpu_timeline_json(struct json_out *out, const struct report *report);

#endif
