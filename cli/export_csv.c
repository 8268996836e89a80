// A table of all sites, one a line, as spreadsheets and data frames read it (RFC 4180).
#include <stdlib.h>

#include "export.h"
#include "holders.h"
#include "memory.h"
#include "program_name.h"
#include "utf8.h"

static const char *const kind_names[] = HT_KIND_NAMES;

// Always in quotes, so that no text can be taken for another column; line ends and other control characters as `?`.
static void text_field(FILE *stream, const char *text) {
  char *clean = utf8_text(text ? text : "");
  fputs(",\"", stream);
  for (const char *at = clean; *at; at++) {
    if (*at == '"') fputc('"', stream);
    fputc((unsigned char)*at < ' ' ? '?' : *at, stream);
  }
  fputc('"', stream);
  free(clean);
}

static void count_field(FILE *stream, uint64_t count) { fprintf(stream, ",%llu", (unsigned long long)count); }

static void site_fields(FILE *stream, const struct shown_frame *site) {
  char *name = site ? frame_name(site) : NULL;
  text_field(stream, name);
  text_field(stream, site ? site->file : NULL);
  if (site && site->line)
    count_field(stream, site->line);
  else
    fputc(',', stream);
  text_field(stream, site ? site->module : NULL);
  free(name);
}

// Leaf first: `node_make demo.c:34 < main demo.c:56`.
static void stack_field(FILE *stream, const struct stacks *stacks, uint32_t node) {
  char *all = memory_format("%s", "");
  for (; node; node = stack_outer(stacks, node)) {
    char *words = frame_words(stack_frame(stacks, node));
    char *longer = memory_format("%s%s%s", all, *all ? " < " : "", words);
    free(words);
    free(all);
    all = longer;
  }
  text_field(stream, all);
  free(all);
}

static void row_write(FILE *stream, const struct judgement *judgement, const struct row *row) {
  char name[PROGRAM_NAME_BYTES];
  fprintf(stream, "%u", judgement->report->process->pid);
  program_name_of(judgement->report, name);
  text_field(stream, name);
  text_field(stream, kind_names[row->kind]);
  site_fields(stream, row->site);
  const uint64_t counts[] = {row->allocations,  row->allocated_bytes, row->frees,          row->temporaries,
                             row->live_bytes,   row->live_blocks,     row->peak_bytes,     row->peak_blocks,
                             row->direct_bytes, row->direct_blocks,   row->indirect_bytes, row->indirect_blocks,
                             row->suppressed};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) count_field(stream, counts[i]);
  stack_field(stream, judgement->stacks, row->stack);
  fputs("\r\n", stream);
}

bool export_csv(FILE *stream, const struct report_set *set, const char *what) {
  (void)what; // every figure has its column
  fputs("pid,program,kind,function,file,line,module,allocations,allocated_bytes,frees,temporaries,live_bytes,"
        "live_blocks,peak_bytes,peak_blocks,leaked_direct_bytes,leaked_direct_blocks,leaked_indirect_bytes,"
        "leaked_indirect_blocks,suppressed,stack\r\n",
        stream);
  for (size_t i = 0; i < set->count; i++)
    for (size_t k = 0; k < set->judgements[i].row_count; k++)
      row_write(stream, &set->judgements[i], &set->judgements[i].rows[k]);
  return true;
}
