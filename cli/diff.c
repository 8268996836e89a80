// heaptide diff: options, the two folders, which output, the exit status.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "comparison.h"
#include "diff_json.h"
#include "diff_page.h"
#include "diff_text.h"
#include "options.h"
#include "page_file.h"
#include "problem.h"
#include "report_input.h"
#include "report_set.h"

struct diff_options {
  bool json, no_builtin_suppressions, no_color;
  uint64_t top;
  const char *fail_on, *html;
  struct option_list suppression_files;
};

static bool is_main(const struct comparison *comparison) {
  for (int side = 0; side < SIDE_COUNT; side++)
    if (comparison->judgements[side] && comparison->judgements[side]->report->process->flags & HT_PROCESS_MAIN)
      return true;
  return false;
}

// A helper process without changes is one line, behind the others.
static bool is_one_line(const struct comparison *comparison) {
  return !comparison->change_count && !is_main(comparison);
}

static void text_show(const struct comparison_list *list, const struct diff_options *options) {
  struct text_out out = text_out_make(stdout, colour_wanted(options->no_color));
  size_t shown = 0;
  for (size_t i = 0; i < list->count; i++) {
    if (is_one_line(&list->items[i])) continue;
    if (shown++) text_print(&out, STYLE_PLAIN, "\n\n");
    diff_text(&out, &list->items[i], options->top);
  }
  if (shown && shown < list->count) text_print(&out, STYLE_PLAIN, "\n");
  for (size_t i = 0; i < list->count; i++)
    if (is_one_line(&list->items[i])) diff_text_same(&out, &list->items[i]);
  text_out_free(&out);
}

// GROWN is the stricter gate: a new site has grown from nothing.
static bool has_finding(const struct comparison_list *list, const char *fail_on) {
  if (strcmp(fail_on, "none") == 0) return false;
  for (size_t i = 0; i < list->count; i++)
    if (comparison_has_more(&list->items[i], strcmp(fail_on, "grown") == 0)) return true;
  return false;
}

static bool page_make(const struct comparison_list *list, char **folders, const char *path) {
  struct page_data data = diff_page_make(list, folders[SIDE_BASE], folders[SIDE_NEW]);
  bool good = page_put(path, &page_text_diff, &data);
  page_data_free(&data);
  if (good && strcmp(path, "-") != 0) complain("%zu process%s -> %s", list->count, list->count == 1 ? "" : "es", path);
  return good;
}

// The page is written beside the other output, unless it takes stdout itself.
static int list_show(const struct comparison_list *list, char **folders, const struct diff_options *options) {
  if (options->html && !page_make(list, folders, options->html)) return STATUS_ERROR;
  bool page_only = options->html && strcmp(options->html, "-") == 0;
  if (options->json && !page_only)
    for (size_t i = 0; i < list->count; i++) diff_json(stdout, &list->items[i]);
  else if (!page_only)
    text_show(list, options);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    problem_print("diff", "stdout cannot be written", "check where it goes");
    return STATUS_ERROR;
  }
  return has_finding(list, options->fail_on) ? STATUS_FINDING : STATUS_OK;
}

static int sets_compare(struct report_set *sets, char **folders, struct suppressions *suppressions,
                        const struct diff_options *options) {
  struct judgement_rules rules = {suppressions, !options->no_builtin_suppressions, {false, 0}};
  for (int side = 0; side < SIDE_COUNT; side++) report_set_judge(&sets[side], &rules);
  struct comparison_list list = comparison_list_make(&sets[SIDE_BASE], &sets[SIDE_NEW]);
  int status = list_show(&list, folders, options);
  comparison_list_free(&list);
  return sets[SIDE_BASE].damaged_count || sets[SIDE_NEW].damaged_count ? STATUS_ERROR : status;
}

static int folders_compare(char **folders, const struct diff_options *options) {
  struct suppressions suppressions = {0};
  struct report_set sets[SIDE_COUNT] = {0};
  bool good = suppressions_load(&suppressions, &options->suppression_files, options->no_builtin_suppressions);
  for (int side = 0; side < SIDE_COUNT && good; side++) good = report_set_load(&sets[side], folders[side], 0);
  int status = good ? sets_compare(sets, folders, &suppressions, options) : STATUS_ERROR;
  for (int side = 0; side < SIDE_COUNT; side++) report_set_free(&sets[side]);
  suppressions_free(&suppressions);
  return status;
}

int command_diff(int argc, char **argv) {
  struct diff_options options = {.top = 10, .fail_on = "new"};
  const struct option table[] = {
      {"--json", OPTION_FLAG, &options.json, NULL, 0, 0},
      {"--top", OPTION_NUMBER, &options.top, NULL, 0, UINT64_MAX},
      {"--fail-on", OPTION_CHOICE, &options.fail_on, "new|grown|none", 0, 0},
      {"--html", OPTION_TEXT, &options.html, NULL, 0, 0},
      {"--supp", OPTION_EACH, &options.suppression_files, NULL, 0, 0},
      {"--no-builtin-suppressions", OPTION_FLAG, &options.no_builtin_suppressions, NULL, 0, 0},
      {"--no-color", OPTION_FLAG, &options.no_color, NULL, 0, 0},
      {0},
  };
  int operands = options_parse("diff", table, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands != 2) {
    problem_print("diff", operands < 2 ? "two report folders are needed" : "more than two report folders are named",
                  "heaptide diff BASE NEW");
    return STATUS_ERROR;
  }
  return folders_compare(argv + 1, &options);
}
