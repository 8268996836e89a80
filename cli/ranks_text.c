#include "ranks_text.h"

#include "units.h"

static const char *growth_word(const struct judgement *judgement) {
  if (judgement_has_growth(judgement)) return "FAIL";
  return judgement->cpu.verdict == VERDICT_NONE ? "n/a" : "pass";
}

static void row_print(struct text_out *out, const struct rank_row *row, bool widest) {
  const struct ht_file_process *process = row->judgement->report->process;
  uint64_t leaked_bytes = row->judgement->leaked_direct_bytes + row->judgement->leaked_indirect_bytes;
  char peak[UNITS_TEXT], live[UNITS_TEXT], leaked[UNITS_TEXT];
  text_print(out, widest ? STYLE_BOLD : STYLE_PLAIN, "  %6u %10u %12s %12s %12s %6s%s\n", row->rank, process->pid,
             bytes_text(peak, process->peak_bytes), bytes_text(live, process->live_bytes),
             judgement_leaks_known(row->judgement) ? bytes_text(leaked, leaked_bytes) : "?",
             growth_word(row->judgement), widest ? "  widest" : "");
}

void ranks_text(struct text_out *out, const struct ranks *ranks) {
  if (ranks->count < 2) return;
  char peak[UNITS_TEXT];
  const struct rank_row *widest = &ranks->rows[ranks->widest];
  text_print(out, STYLE_HEADING, "RANKS");
  text_print(out, STYLE_PLAIN, "  %zu, the widest is rank %u with a peak of %s\n", ranks->count, widest->rank,
             bytes_text(peak, widest->judgement->report->process->peak_bytes));
  text_print(out, STYLE_DIM, "  %6s %10s %12s %12s %12s %6s\n", "rank", "pid", "peak", "live at end", "leaked",
             "growth");
  for (size_t i = 0; i < ranks->count; i++) row_print(out, &ranks->rows[i], i == ranks->widest);
  text_print(out, STYLE_PLAIN, "\n");
}
