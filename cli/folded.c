#include "folded.h"

#include <stdint.h>
#include <stdlib.h>

#include "holders.h"
#include "measure.h"
#include "memory.h"

// A frame's name, without the characters that mean something in the format.
static void name_print(FILE *stream, const char *name) {
  for (; *name; name++) fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name, stream);
}

// Python's functions with their line, as many are called `<module>` or `__init__`.
static void frame_print(FILE *stream, const struct shown_frame *frame) {
  if (frame->function && frame->language != LANGUAGE_PYTHON) {
    name_print(stream, frame->function);
    return;
  }
  char *words = frame_words(frame);
  name_print(stream, words);
  free(words);
}

static void stack_print(FILE *stream, const struct stacks *stacks, uint32_t node, const char *prefix) {
  size_t count = 0, capacity = 0;
  uint32_t *frames = NULL;
  for (; node; node = stack_outer(stacks, node)) {
    frames = memory_grow(frames, count, &capacity, sizeof *frames);
    frames[count++] = stacks->nodes[node].frame;
  }
  if (prefix) name_print(stream, prefix);
  if (count == 0) fputs(prefix ? ";[unknown]" : "[unknown]", stream);
  for (size_t i = count; i > 0; i--) {
    if (prefix || i < count) fputc(';', stream);
    frame_print(stream, &stacks->frames[frames[i - 1]]);
  }
  free(frames);
}

void folded_print(FILE *stream, const struct judgement *judgement, const char *what, const char *prefix) {
  const struct measure *measure = measure_find(what);
  for (size_t i = 0; i < judgement->row_count; i++) {
    const struct row *row = &judgement->rows[i];
    uint64_t value = measure->value(row);
    if (!value) continue;
    stack_print(stream, judgement->stacks, row->stack, prefix);
    fprintf(stream, " %llu\n", (unsigned long long)value);
  }
}

void folded_print_set(FILE *stream, const struct report_set *set, const char *what) {
  for (size_t i = 0; i < set->count; i++) {
    const struct report *report = &set->reports[i];
    char *name = memory_format("%s %u", path_name(report->strings + report->process->exe), report->process->pid);
    folded_print(stream, &set->judgements[i], what, set->count > 1 ? name : NULL);
    free(name);
  }
}
