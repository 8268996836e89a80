// heaptide export: options, what to read, which format, where to.
#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "folded.h"
#include "measure.h"
#include "memory.h"
#include "options.h"
#include "problem.h"
#include "report_input.h"

char *export_recorded_words(const struct report_set *set, size_t count) {
  bool estimated = reports_are_estimated(set->reports, count);
  return memory_format("recorded by heaptide " HEAPTIDE_VERSION "%s", estimated ? ESTIMATED_WORDS : "");
}

static bool export_folded(FILE *stream, const struct report_set *set, const char *what) {
  folded_print_set(stream, set, what);
  return true;
}

static const struct format {
  const char *name;
  bool one_process; // it has no place for more
  export_write *write;
} formats[] = {
    {"speedscope", false, export_speedscope}, {"pprof", false, export_pprof},   {"chrome", false, export_chrome},
    {"massif", true, export_massif},          {"folded", false, export_folded}, {"csv", false, export_csv},
};
#define FORMAT_CHOICES "speedscope|pprof|chrome|massif|folded|csv"

struct export_options {
  const char *format, *out, *what;
  bool no_builtin_suppressions;
  uint64_t pid;
  struct option_list suppression_files;
};

static const struct format *format_find(const char *name) {
  const struct format *format = formats;
  while (strcmp(format->name, name) != 0) format++;
  return format;
}

static bool stream_done(FILE *stream) {
  bool good = fflush(stream) == 0 && !ferror(stream);
  return stream == stdout ? good : fclose(stream) == 0 && good;
}

static int set_write(const struct report_set *set, const struct export_options *options) {
  const struct format *format = format_find(options->format);
  bool to_stdout = strcmp(options->out, "-") == 0;
  errno = 0;
  FILE *stream = to_stdout ? stdout : fopen(options->out, "we");
  bool good = stream && format->write(stream, set, options->what);
  if (stream) good = stream_done(stream) && good;
  if (!good) {
    problem_print(to_stdout ? "stdout" : options->out, errno ? strerror(errno) : "cannot be written",
                  "name another file with -o");
    return STATUS_ERROR;
  }
  if (format->one_process && set->count > 1)
    complain("export: %s holds one process: pid %u was taken of %zu; choose another with --pid", format->name,
             set->reports[0].process->pid, set->count);
  return set->damaged_count ? STATUS_ERROR : STATUS_OK;
}

static int folder_export(const char *folder, const struct export_options *options) {
  struct suppressions suppressions = {0};
  struct report_set set = {0};
  int status = STATUS_ERROR;
  if (suppressions_load(&suppressions, &options->suppression_files, options->no_builtin_suppressions) &&
      report_set_load(&set, folder, options->pid)) {
    struct judgement_rules rules = {&suppressions, !options->no_builtin_suppressions, {false, 0}};
    report_set_judge(&set, &rules);
    status = set_write(&set, options);
  }
  report_set_free(&set);
  suppressions_free(&suppressions);
  return status;
}

// False after a complaint.
static bool options_complete(const struct export_options *options, int operands) {
  const char *why = operands > 1       ? "more than one folder is named"
                    : !options->format ? "no format is named"
                    : !options->out    ? "no file to write is named"
                                       : NULL;
  if (why) problem_print("export", why, "heaptide export [DIR] --format " FORMAT_CHOICES " -o OUT");
  return !why;
}

int command_export(int argc, char **argv) {
  struct export_options options = {.what = "peak"};
  const struct option table[] = {
      {"--format", OPTION_CHOICE, &options.format, FORMAT_CHOICES, 0, 0},
      {"-o", OPTION_TEXT, &options.out, NULL, 0, 0},
      {"--what", OPTION_CHOICE, &options.what, MEASURE_CHOICES, 0, 0},
      {"--pid", OPTION_NUMBER, &options.pid, NULL, 1, UINT32_MAX},
      {"--supp", OPTION_EACH, &options.suppression_files, NULL, 0, 0},
      {"--no-builtin-suppressions", OPTION_FLAG, &options.no_builtin_suppressions, NULL, 0, 0},
      {0},
  };
  int operands = options_parse("export", table, false, argc, argv);
  if (operands < 0 || !options_complete(&options, operands)) return STATUS_ERROR;
  char *found;
  const char *folder = report_folder_choose("export", operands ? argv[1] : NULL, &found);
  int status = folder ? folder_export(folder, &options) : STATUS_ERROR;
  free(found);
  return status;
}
