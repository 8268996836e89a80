// heaptide: finds the command in the table and runs it.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "hint.h"
#include "options.h"
#include "problem.h"
#include "target.h"

const struct command commands[] = {
    {"run", "run a program and record its memory, its children's too", command_run, help_run, STATUS_RUN_FAILED},
    {"report", "show what was recorded: leaks, growth, peak, hotspots", command_report, help_report, STATUS_ERROR},
    {"flame", "what was recorded as one offline page: flame graph, timeline, tables", command_flame, help_flame,
     STATUS_ERROR},
    {"diff", "two recordings compared: what is new, grown, gone, shrunk", command_diff, help_diff, STATUS_ERROR},
    {"export", "a recording in the format of another tool", command_export, help_export, STATUS_ERROR},
    {"snapshot", "have every process of a run write its report now", command_snapshot, help_snapshot, STATUS_ERROR},
    {"top", "what a process that is recorded holds, live in the terminal", command_top, help_top, STATUS_ERROR},
    {"attach", "record a process that runs, from now on", command_attach, help_attach, STATUS_ERROR},
    {"detach", "a last report, and the process runs on without heaptide", command_detach, help_detach, STATUS_ERROR},
    {"doctor", "what this machine offers heaptide, and what is missing", command_doctor, help_doctor, STATUS_ERROR},
    {"help", "this list, or how one command is used", command_help, help_help, STATUS_ERROR},
    {0},
};

const struct command *command_find(const char *name) {
  for (const struct command *command = commands; command->name; command++)
    if (strcmp(command->name, name) == 0) return command;
  return NULL;
}

static int version_show(void) {
  printf("heaptide %s\n", HEAPTIDE_VERSION);
  return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
}

static bool is_one_of(const char *word, const char *first, const char *second) {
  return strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

// A misspelt command, or `heaptide ./server` with `run` forgotten.
static void command_unknown(const char *word) {
  static const char *const others[] = {"--version", "--help"};
  struct hint_nearest nearest = hint_nearest_to(word, strlen(word));
  for (const struct command *command = commands; command->name; command++) hint_offer(&nearest, command->name);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) hint_offer(&nearest, others[i]);
  struct target target;
  int error;
  if (nearest.name)
    complain("%s: unknown command; did you mean %s? (heaptide help)", word, nearest.name);
  else if (target_find(word, &target, &error) == 0)
    complain("%s: unknown command; to record the program of that name: heaptide run %s", word, word);
  else
    complain("%s: unknown command; see heaptide help", word);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    complain("command line: no command given; see heaptide help");
    return STATUS_ERROR;
  }
  if (is_one_of(argv[1], "-h", "--help")) return help_show(NULL);
  if (is_one_of(argv[1], "--version", "-V")) return version_show();
  if (is_one_of(argv[1], "--list-commands", "--list-topics")) return help_list(strcmp(argv[1], "--list-topics") == 0);
  const struct command *command = command_find(argv[1]);
  if (!command) {
    command_unknown(argv[1]);
    return STATUS_ERROR;
  }
  if (!command->run) {
    complain("%s: not in this version; heaptide help lists what is", command->name);
    return command->bad_usage;
  }
  return command->run(argc - 1, argv + 1);
}
