// Command-line parsing, the same for every command: a table of options in, values out, one line on what is wrong.
#ifndef HT_OPTIONS_H
#define HT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
  OPTION_FLAG,   // into: bool *, set to true
  OPTION_TEXT,   // into: const char **, the value; empty is refused
  OPTION_NUMBER, // into: uint64_t *, a decimal number in [low, high]
  OPTION_CHOICE, // into: const char **, one of `choices`
  OPTION_EACH,   // into: struct option_list *, repeatable
};

#define OPTION_LIST_MAX 64 // more --supp files than that are refused
struct option_list {
  const char *values[OPTION_LIST_MAX];
  int count;
};

struct option {
  const char *name; // with its dashes: "--top", "-q"
  enum option_kind kind;
  void *into;
  const char *choices; // OPTION_CHOICE: "any|leaks|growth|none"
  uint64_t low, high;  // OPTION_NUMBER
};

// Parses argv[1..argc) by `options` (ended by one without a name); values are `--name VALUE` or `--name=VALUE`, of a
// repeated option the last counts, `--` ends the options, and -h or --help prints the command's help and exits with
// 0 (`--list-options` as the first argument does so with the names of the options). Operands are moved to argv[1...],
// their number is returned; with `stop_at_operand` the first operand ends the options (a command line of its own
// follows). On bad input says so on stderr and returns -1.
int options_parse(const char *command, const struct option *options, bool stop_at_operand, int argc, char **argv);

// A number with every character used, in [low, high]. The same check as for OPTION_NUMBER.
bool options_number(const char *string, uint64_t low, uint64_t high, uint64_t *value);

#endif
