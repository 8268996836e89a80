// heaptide flame: the reports of a folder as one HTML page.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "memory.h"
#include "options.h"
#include "page_data.h"
#include "page_file.h"
#include "problem.h"
#include "report_input.h"
#include "report_set.h"

struct flame_options {
  const char *out; // NULL: beside the folder
  bool open, no_builtin_suppressions;
  uint64_t pid;
  struct option_list suppression_files;
};

// ---- showing

// Has xdg-open, which looks at BROWSER first, show the file. Its chatter is not ours.
static bool page_show(const char *path) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++) dup2(nowhere, fd);
    execlp("xdg-open", "xdg-open", path, (char *)NULL);
    _exit(127);
  }
  bool good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!good) problem_print("--open", "xdg-open showed no page", "open the file in a browser");
  return good;
}

// ---- command

// DIR.html beside the folder, whatever its name ends with.
static char *path_default(const char *folder) {
  char *whole = realpath(folder, NULL);
  const char *name = whole ? whole : folder;
  size_t bytes = strlen(folder);
  while (bytes > 1 && folder[bytes - 1] == '/') bytes--;
  bool plain = strncmp(folder, ".", bytes) != 0 && strncmp(folder, "..", bytes) != 0;
  char *path = plain ? memory_format("%.*s.html", (int)bytes, folder) : memory_format("%s.html", name);
  free(whole);
  return path;
}

static int set_write(struct report_set *set, struct suppressions *suppressions, const char *folder, const char *path,
                     const struct flame_options *options) {
  struct judgement_rules rules = {suppressions, !options->no_builtin_suppressions, {false, 0}};
  report_set_judge(set, &rules);
  struct page_data data = page_data_make(set, folder);
  bool good = page_put(path, &page_text_flame, &data);
  page_data_free(&data);
  bool is_file = strcmp(path, "-") != 0;
  if (good && is_file) complain("%zu %s -> %s", set->count, set->count == 1 ? "process" : "processes", path);
  if (good && is_file && options->open) good = page_show(path);
  return good && !set->damaged_count ? STATUS_OK : STATUS_ERROR;
}

static int folder_write(const char *folder, const struct flame_options *options) {
  struct suppressions suppressions = {0};
  struct report_set set = {0};
  char *path = options->out ? memory_format("%s", options->out) : path_default(folder);
  bool good = suppressions_load(&suppressions, &options->suppression_files, options->no_builtin_suppressions) &&
              report_set_load(&set, folder, options->pid);
  int status = good ? set_write(&set, &suppressions, folder, path, options) : STATUS_ERROR;
  report_set_free(&set);
  suppressions_free(&suppressions);
  free(path);
  return status;
}

int command_flame(int argc, char **argv) {
  struct flame_options options = {0};
  const struct option table[] = {
      {"-o", OPTION_TEXT, &options.out, NULL, 0, 0},
      {"--open", OPTION_FLAG, &options.open, NULL, 0, 0},
      {"--pid", OPTION_NUMBER, &options.pid, NULL, 1, UINT32_MAX},
      {"--supp", OPTION_EACH, &options.suppression_files, NULL, 0, 0},
      {"--no-builtin-suppressions", OPTION_FLAG, &options.no_builtin_suppressions, NULL, 0, 0},
      {0},
  };
  int operands = options_parse("flame", table, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands > 1) {
    problem_print("flame", "more than one folder is named", "see heaptide help flame");
    return STATUS_ERROR;
  }
  char *found;
  const char *folder = report_folder_choose("flame", operands ? argv[1] : NULL, &found);
  int status = folder ? folder_write(folder, &options) : STATUS_ERROR;
  free(found);
  return status;
}
