// The format is that of Ant's JUnit task as CI servers read it: testsuites, testsuite, testcase with failure, skipped
// or neither (github.com/testmoapp/junitxml lists what they agree on).
#include "report_junit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holders.h"
#include "memory.h"
#include "problem.h"
#include "program_name.h"
#include "units.h"
#include "utf8.h"

static const char *const kind_names[] = HT_KIND_NAMES;

struct junit {
  FILE *stream;
  struct junit_gates gates;
  char program[PROGRAM_NAME_BYTES];
};

// ---- XML

// XML 1.0 has no place for control characters, nor for U+FFFE and U+FFFF (section 2.2).
static bool is_no_xml(const char *at) {
  unsigned char first = (unsigned char)*at;
  return (first < ' ' && first != '\n' && first != '\t') || strncmp(at, "\xef\xbf\xbe", 3) == 0 ||
         strncmp(at, "\xef\xbf\xbf", 3) == 0;
}

static void text_write(FILE *stream, const char *text) {
  char *clean = utf8_text(text);
  for (const char *at = clean; *at; at++) {
    if (is_no_xml(at)) {
      fputc('?', stream);
      if ((unsigned char)*at == 0xef) at += 2;
    } else if (strchr("<>&\"", *at)) {
      fprintf(stream, "&#%d;", *at);
    } else {
      fputc(*at, stream);
    }
  }
  free(clean);
}

static void attribute_write(FILE *stream, const char *name, const char *value) {
  fprintf(stream, " %s=\"", name);
  text_write(stream, value);
  fputc('"', stream);
}

// ---- cases

static void case_open(const struct junit *junit, const char *name) {
  fputs("    <testcase", junit->stream);
  attribute_write(junit->stream, "classname", junit->program);
  attribute_write(junit->stream, "name", name);
  fputs(">", junit->stream);
}

static void case_close(const struct junit *junit) { fputs("</testcase>\n", junit->stream); }

static void skipped_write(const struct junit *junit, const char *why) {
  fputs("<skipped", junit->stream);
  attribute_write(junit->stream, "message", why);
  fputs("/>", junit->stream);
}

static void stack_write(const struct junit *junit, const struct stacks *stacks, uint32_t node) {
  for (; node; node = stack_outer(stacks, node)) {
    char *words = frame_words(stack_frame(stacks, node));
    text_write(junit->stream, words);
    fputc('\n', junit->stream);
    free(words);
  }
}

static char *leak_words(const struct row *row) {
  char direct[UNITS_TEXT], indirect[UNITS_TEXT], blocks[UNITS_TEXT];
  uint64_t count = row->direct_blocks + row->indirect_blocks;
  return memory_format("leaked %s directly and %s indirectly in %s block%s of %s",
                       bytes_text(direct, row->direct_bytes), bytes_text(indirect, row->indirect_bytes),
                       count_text(blocks, count), count == 1 ? "" : "s", kind_names[row->kind]);
}

// "leak at node_make demo.c:34 < request_serve demo.c:44": with what called it, as servers tell cases apart by their
// names.
static char *leak_name(const struct stacks *stacks, const struct row *row) {
  enum { FRAMES = 4 };
  char *name = NULL;
  int frames = 0;
  for (uint32_t node = row->stack; node && frames < FRAMES; node = stack_outer(stacks, node)) {
    const struct shown_frame *frame = stack_frame(stacks, node);
    if (frame->runtime) continue;
    char *words = frame_words(frame);
    char *longer = name ? memory_format("%s < %s", name, words) : memory_format("leak at %s", words);
    free(words);
    free(name);
    name = longer;
    frames++;
  }
  if (name) return name;
  char *words = row->site ? frame_words(row->site) : memory_format("[unknown]");
  name = memory_format("leak at %s", words);
  free(words);
  return name;
}

static void leak_write(const struct junit *junit, const struct judgement *judgement, const struct row *row) {
  char *name = leak_name(judgement->stacks, row), *words = leak_words(row);
  case_open(junit, name);
  if (row->suppressed || !junit->gates.leaks) {
    skipped_write(junit, row->suppressed ? "suppressed" : "not looked at: --fail-on");
  } else {
    fputs("<failure type=\"leak\"", junit->stream);
    attribute_write(junit->stream, "message", words);
    fputc('>', junit->stream);
    stack_write(junit, judgement->stacks, row->stack);
    fputs("</failure>", junit->stream);
  }
  case_close(junit);
  free(name);
  free(words);
}

// One case that went well stands for all sites that do not leak.
static void leaks_write(const struct junit *junit, const struct judgement *judgement) {
  for (size_t i = 0; i < judgement->leaks.count; i++)
    leak_write(junit, judgement, &judgement->rows[judgement->leaks.rows[i]]);
  if (judgement->leaks.count) return;
  case_open(junit, "no leaks");
  if (!(judgement->report->process->flags & HT_PROCESS_SCANNED)) skipped_write(junit, "leaks were not looked for");
  case_close(junit);
}

static void growth_write(const struct junit *junit, const char *name, const struct growth *growth) {
  case_open(junit, name);
  if (growth->verdict == VERDICT_NONE || !junit->gates.growth) {
    skipped_write(junit, growth->verdict == VERDICT_NONE ? growth->why : "not looked at: --fail-on");
  } else if (growth->verdict == VERDICT_FAIL) {
    fputs("<failure type=\"growth\"", junit->stream);
    attribute_write(junit->stream, "message", growth->why);
    fputs("/>", junit->stream);
  }
  case_close(junit);
}

// ---- suites

// Of each suite and of all together.
struct tally {
  size_t tests, failures, skipped;
};

static void growth_count(struct tally *tally, const struct growth *growth, bool gated) {
  tally->tests++;
  tally->failures += gated && growth->verdict == VERDICT_FAIL;
  tally->skipped += !gated || growth->verdict == VERDICT_NONE;
}

static struct tally suite_count(const struct judgement *judgement, struct junit_gates gates) {
  struct tally tally = {0};
  for (size_t i = 0; i < judgement->leaks.count; i++) {
    bool suppressed = judgement->rows[judgement->leaks.rows[i]].suppressed;
    tally.tests++;
    tally.failures += gates.leaks && !suppressed;
    tally.skipped += !gates.leaks || suppressed;
  }
  if (!judgement->leaks.count) {
    tally.tests++;
    tally.skipped += !(judgement->report->process->flags & HT_PROCESS_SCANNED);
  }
  growth_count(&tally, &judgement->cpu, gates.growth);
  growth_count(&tally, &judgement->device, gates.growth);
  return tally;
}

static void tally_write(FILE *stream, struct tally tally) {
  fprintf(stream, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", tally.tests, tally.failures,
          tally.skipped);
}

static void suite_write(struct junit *junit, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  char started[40];
  time_t seconds = (time_t)(report->process->started_unix_ns / 1000000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
  program_name_of(report, junit->program);
  char *name = memory_format("heaptide: %s, pid %u", junit->program, report->process->pid);
  fputs("  <testsuite", junit->stream);
  attribute_write(junit->stream, "name", name);
  attribute_write(junit->stream, "timestamp", started);
  fprintf(junit->stream, " time=\"%.3f\"", seconds_of(report->process->duration_ns));
  tally_write(junit->stream, suite_count(judgement, junit->gates));
  fputs(">\n", junit->stream);
  leaks_write(junit, judgement);
  growth_write(junit, "no growth", &judgement->cpu);
  growth_write(junit, "no growth of device memory", &judgement->device);
  fputs("  </testsuite>\n", junit->stream);
  free(name);
}

bool report_junit(const char *path, const struct report_set *set, struct junit_gates gates) {
  struct junit junit = {fopen(path, "we"), gates, ""};
  struct tally all = {0};
  if (!junit.stream) {
    problem_print(path, strerror(errno), "name another file with --junit");
    return false;
  }
  for (size_t i = 0; i < set->count; i++) {
    struct tally one = suite_count(&set->judgements[i], gates);
    all = (struct tally){all.tests + one.tests, all.failures + one.failures, all.skipped + one.skipped};
  }
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"heaptide\"", junit.stream);
  tally_write(junit.stream, all);
  fputs(">\n", junit.stream);
  for (size_t i = 0; i < set->count; i++) suite_write(&junit, &set->judgements[i]);
  fputs("</testsuites>\n", junit.stream);
  bool good = !ferror(junit.stream);
  if (fclose(junit.stream) == 0 && good) return true;
  problem_print(path, "cannot be written", "check the disk, or name another file with --junit");
  return false;
}
