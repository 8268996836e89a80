// Every command of `heaptide`, one line each in the table of main.c.
#ifndef HT_COMMANDS_H
#define HT_COMMANDS_H

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

// Prints the help of one command, or with NULL the list of commands. Returns the exit status.
int help_show(const char *command);

int command_run(int argc, char **argv);
int command_report(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_help(int argc, char **argv);

#endif
