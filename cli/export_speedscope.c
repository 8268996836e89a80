// speedscope.app's own format: a profile of samples for each process and measure, over one list of frames.
// Source: jlfwong/speedscope, src/lib/file-format-spec.ts.
#include <stdlib.h>

#include "export.h"
#include "holders.h"
#include "json_out.h"
#include "measure.h"
#include "memory.h"
#include "program_name.h"

static void frame_write(struct json_out *out, const struct shown_frame *frame) {
  char *name = frame_name(frame);
  out_open(out, NULL, '{');
  out_text(out, "name", name);
  if (frame->file || frame->module) out_text(out, "file", frame->file ? frame->file : frame->module);
  if (frame->file && frame->line) out_count(out, "line", frame->line);
  if (frame->file && frame->column) out_count(out, "col", frame->column);
  out_close(out, '}');
  free(name);
}

static void frames_write(struct json_out *out, const struct report_set *set) {
  out_open(out, "shared", '{');
  out_open(out, "frames", '[');
  for (size_t i = 0; i < set->count; i++)
    for (size_t k = 0; k < set->stacks[i].frame_count; k++) frame_write(out, &set->stacks[i].frames[k]);
  out_close(out, ']');
  out_close(out, '}');
}

// The stack from the outside in, its frames numbered from `first_frame`.
static void sample_write(struct json_out *out, const struct stacks *stacks, uint32_t node, size_t first_frame) {
  size_t count = 0, capacity = 0;
  uint32_t *frames = NULL;
  for (; node; node = stack_outer(stacks, node)) {
    frames = memory_grow(frames, count, &capacity, sizeof *frames);
    frames[count++] = stacks->nodes[node].frame;
  }
  out_open(out, NULL, '[');
  while (count) out_count(out, NULL, first_frame + frames[--count]);
  out_close(out, ']');
  free(frames);
}

static void samples_write(struct json_out *out, const struct judgement *judgement, const struct measure *measure,
                          size_t first_frame) {
  uint64_t total = 0;
  out_open(out, "samples", '[');
  for (size_t i = 0; i < judgement->row_count; i++)
    if (measure->value(&judgement->rows[i]))
      sample_write(out, judgement->stacks, judgement->rows[i].stack, first_frame);
  out_close(out, ']');
  out_open(out, "weights", '[');
  for (size_t i = 0; i < judgement->row_count; i++) {
    uint64_t value = measure->value(&judgement->rows[i]);
    if (value) out_count(out, NULL, value);
    total += value;
  }
  out_close(out, ']');
  out_count(out, "startValue", 0);
  out_count(out, "endValue", total);
}

static bool has_any(const struct judgement *judgement, const struct measure *measure) {
  for (size_t i = 0; i < judgement->row_count; i++)
    if (measure->value(&judgement->rows[i])) return true;
  return false;
}

static void profile_write(struct json_out *out, const struct judgement *judgement, const struct measure *measure,
                          size_t first_frame) {
  char program[PROGRAM_NAME_BYTES];
  program_name_of(judgement->report, program);
  char *name = memory_format("%s, %s pid %u", measure->word, program, judgement->report->process->pid);
  out_open(out, NULL, '{');
  out_text(out, "type", "sampled");
  out_text(out, "name", name);
  out_text(out, "unit", measure->bytes ? "bytes" : "none");
  samples_write(out, judgement, measure, first_frame);
  out_close(out, '}');
  free(name);
}

// The order of the profiles: speedscope shows the first one.
static void profiles_write(struct json_out *out, const struct report_set *set, const struct measure *measure) {
  size_t first_frame = 0;
  for (size_t i = 0; i < set->count; i++) {
    if (has_any(&set->judgements[i], measure)) profile_write(out, &set->judgements[i], measure, first_frame);
    first_frame += set->stacks[i].frame_count;
  }
}

bool export_speedscope(FILE *stream, const struct report_set *set, const char *what) {
  struct json_out out = {.stream = stream};
  char program[PROGRAM_NAME_BYTES];
  const struct measure *first = measure_find(what);
  out_open(&out, NULL, '{');
  out_text(&out, "$schema", "https://www.speedscope.app/file-format-schema.json");
  program_name_of(&set->reports[0], program);
  bool estimated = reports_are_estimated(set->reports, set->count);
  char *name = memory_format("%s%s", program, estimated ? ESTIMATED_WORDS : "");
  out_text(&out, "name", name);
  free(name);
  out_text(&out, "exporter", "heaptide@" HEAPTIDE_VERSION);
  frames_write(&out, set);
  out_open(&out, "profiles", '[');
  profiles_write(&out, set, first);
  for (size_t i = 0; i < MEASURE_COUNT; i++)
    if (&measures[i] != first) profiles_write(&out, set, &measures[i]);
  out_close(&out, ']');
  out_close(&out, '}');
  fputc('\n', stream);
  return true;
}
