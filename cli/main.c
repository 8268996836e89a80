// heaptide: finds the command in the table and runs it.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "options.h"

const struct command commands[] = {
    {"run", "run a program and record its memory, its children's too", command_run, help_run, STATUS_RUN_FAILED},
    {"report", "show what was recorded: leaks, growth, peak, hotspots", command_report, help_report, STATUS_ERROR},
    {"doctor", "what this machine offers heaptide, and what is missing", command_doctor, help_doctor, STATUS_ERROR},
    {"help", "this list, or how one command is used", command_help, help_help, STATUS_ERROR},
    {"diff", NULL, NULL, NULL, STATUS_ERROR},
    {"flame", NULL, NULL, NULL, STATUS_ERROR},
    {"export", NULL, NULL, NULL, STATUS_ERROR},
    {"snapshot", NULL, NULL, NULL, STATUS_ERROR},
    {"attach", NULL, NULL, NULL, STATUS_ERROR},
    {"detach", NULL, NULL, NULL, STATUS_ERROR},
    {"top", NULL, NULL, NULL, STATUS_ERROR},
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

int main(int argc, char **argv) {
  if (argc < 2) {
    complain("command line: no command given; see heaptide help");
    return STATUS_ERROR;
  }
  if (is_one_of(argv[1], "-h", "--help")) return help_show(NULL);
  if (is_one_of(argv[1], "--version", "-V")) return version_show();
  const struct command *command = command_find(argv[1]);
  if (!command) {
    complain("%s: unknown command; see heaptide help", argv[1]);
    return STATUS_ERROR;
  }
  if (!command->run) {
    complain("%s: not in this version; heaptide help lists what is", command->name);
    return command->bad_usage;
  }
  return command->run(argc - 1, argv + 1);
}
