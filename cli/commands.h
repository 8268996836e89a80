// Every command of `heaptide`, one line each in the table of main.c.
#ifndef HT_COMMANDS_H
#define HT_COMMANDS_H

#include <stdbool.h>

enum {
  STATUS_OK = 0,
  STATUS_FINDING = 1,
  STATUS_ERROR = 2,        // bad option, missing or damaged file
  STATUS_RUN_FAILED = 125, // `run`: heaptide itself failed, CMD was not started
  STATUS_NOT_RUNNABLE = 126,
  STATUS_NOT_FOUND = 127,
};

struct command {
  const char *name;
  const char *summary;               // one line of `heaptide help`
  int (*run)(int argc, char **argv); // argv[0] is the command's name; returns the exit status; NULL: a later version
  const char *help;                  // what `heaptide help NAME` shows
  int bad_usage;                     // exit status for a wrong option
};

extern const struct command commands[];               // ended by one without a name
const struct command *command_find(const char *name); // NULL: there is none

// Prints the help of one command or topic, or with NULL the list of both. Returns the exit status.
int help_show(const char *name);

// Prints their bare names, for completion.
int help_list(bool topics);

int command_run(int argc, char **argv);
int command_attach(int argc, char **argv);
int command_detach(int argc, char **argv);
int command_snapshot(int argc, char **argv);
int command_top(int argc, char **argv);
int command_report(int argc, char **argv);
int command_flame(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_export(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_help(int argc, char **argv);

#endif
