// heaptide report: options, what to read, which output, the exit status.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "folded.h"
#include "fork_text.h"
#include "measure.h"
#include "options.h"
#include "problem.h"
#include "ranks.h"
#include "ranks_text.h"
#include "report_input.h"
#include "report_json.h"
#include "report_junit.h"
#include "report_set.h"
#include "report_text.h"
#include "workers.h"
#include "workers_text.h"

#define MIB 1048576.0

struct report_options {
  bool json, print_suppressions, no_builtin_suppressions, no_color;
  uint64_t top, pid, growth_limit_mib;
  const char *fail_on, *folded, *junit;
  struct option_list suppression_files;
};

// No growth limit was given.
#define NO_LIMIT UINT64_MAX

// ---- outputs

// What the processes have together.
struct together {
  struct fork_families families;
  struct workers workers;
};

static void text_show(const struct report_set *set, const struct together *together,
                      const struct report_options *options) {
  struct text_out out = text_out_make(stdout, colour_wanted(options->no_color));
  size_t shown = 0;
  struct ranks ranks = ranks_make(set);
  ranks_text(&out, &ranks);
  ranks_free(&ranks);
  workers_text(&out, set, &together->workers);
  fork_text(&out, set, &together->families, options->top);
  for (size_t i = 0; i < set->count; i++) {
    if (set->judgements[i].quiet) continue;
    if (shown++) text_print(&out, STYLE_PLAIN, "\n\n");
    report_text(&out, &set->judgements[i], options->top);
  }
  if (shown && shown < set->count) text_print(&out, STYLE_PLAIN, "\n");
  for (size_t i = 0; i < set->count; i++)
    if (set->judgements[i].quiet) report_text_quiet(&out, &set->judgements[i]);
  text_out_free(&out);
}

static void json_show(const struct report_set *set, const struct report_options *options) {
  for (size_t i = 0; i < set->count; i++) report_json(stdout, &set->judgements[i], options->top);
}

static void output_show(const struct report_set *set, const struct together *together,
                        const struct suppressions *suppressions, const struct report_options *options) {
  if (options->print_suppressions)
    suppressions_print(suppressions);
  else if (options->folded)
    folded_print_set(stdout, set, options->folded);
  else if (options->json)
    json_show(set, options);
  else
    text_show(set, together, options);
}

// ---- status

static struct junit_gates gates_of(const char *fail_on) {
  bool any = strcmp(fail_on, "any") == 0;
  return (struct junit_gates){any || strcmp(fail_on, "leaks") == 0, any || strcmp(fail_on, "growth") == 0};
}

static bool has_finding(const struct report_set *set, struct junit_gates gates) {
  for (size_t i = 0; i < set->count; i++)
    if ((gates.leaks && judgement_has_leaks(&set->judgements[i])) ||
        (gates.growth && judgement_has_growth(&set->judgements[i])))
      return true;
  return false;
}

static int set_show(struct report_set *set, struct suppressions *suppressions, const struct report_options *options) {
  bool limited = options->growth_limit_mib != NO_LIMIT;
  struct judgement_rules rules = {suppressions,
                                  !options->no_builtin_suppressions,
                                  {limited, limited ? (double)options->growth_limit_mib * MIB : 0}};
  report_set_judge(set, &rules);
  struct together together = {fork_families_make(set), workers_make(set)};
  fork_counted_tell(&together.families, set);
  workers_tell(&together.workers, set);
  output_show(set, &together, suppressions, options);
  fork_families_free(&together.families);
  workers_free(&together.workers);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    problem_print("report", "stdout cannot be written", "check where it goes");
    return STATUS_ERROR;
  }
  struct junit_gates gates = gates_of(options->fail_on);
  if (options->junit && !report_junit(options->junit, set, gates)) return STATUS_ERROR;
  if (set->damaged_count) return STATUS_ERROR;
  return has_finding(set, gates) ? STATUS_FINDING : STATUS_OK;
}

static int report_show(const char *folder, const struct report_options *options) {
  struct suppressions suppressions = {0};
  struct report_set set = {0};
  bool good = suppressions_load(&suppressions, &options->suppression_files, options->no_builtin_suppressions) &&
              report_set_load(&set, folder, options->pid);
  int status = good ? set_show(&set, &suppressions, options) : STATUS_ERROR;
  report_set_free(&set);
  suppressions_free(&suppressions);
  return status;
}

int command_report(int argc, char **argv) {
  struct report_options options = {.top = 10, .fail_on = "any", .growth_limit_mib = NO_LIMIT};
  const struct option table[] = {
      {"--json", OPTION_FLAG, &options.json, NULL, 0, 0},
      {"--top", OPTION_NUMBER, &options.top, NULL, 0, UINT64_MAX},
      {"--supp", OPTION_EACH, &options.suppression_files, NULL, 0, 0},
      {"--print-suppressions", OPTION_FLAG, &options.print_suppressions, NULL, 0, 0},
      {"--no-builtin-suppressions", OPTION_FLAG, &options.no_builtin_suppressions, NULL, 0, 0},
      {"--fail-on", OPTION_CHOICE, &options.fail_on, "any|leaks|growth|none", 0, 0},
      {"--growth-limit", OPTION_NUMBER, &options.growth_limit_mib, NULL, 0, UINT32_MAX},
      {"--folded", OPTION_CHOICE, &options.folded, MEASURE_CHOICES, 0, 0},
      {"--junit", OPTION_TEXT, &options.junit, NULL, 0, 0},
      {"--pid", OPTION_NUMBER, &options.pid, NULL, 1, UINT32_MAX},
      {"--no-color", OPTION_FLAG, &options.no_color, NULL, 0, 0},
      {0},
  };
  int operands = options_parse("report", table, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands > 1 || (options.json && options.folded)) {
    problem_print("report", operands > 1 ? "more than one folder is named" : "--json and --folded exclude each other",
                  "see heaptide help report");
    return STATUS_ERROR;
  }
  char *found;
  const char *folder = report_folder_choose("report", operands ? argv[1] : NULL, &found);
  int status = folder ? report_show(folder, &options) : STATUS_ERROR;
  free(found);
  return status;
}
