#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hint.h"
#include "problem.h"
#include "text.h"

bool options_number(const char *string, uint64_t low, uint64_t high, uint64_t *value) {
  return text_decimal(string, strlen(string), value) && *value >= low && *value <= high;
}

// True when `value` is one of the words of `choices`, which are separated by `|`.
static bool choice_has(const char *choices, const char *value) {
  size_t bytes = strlen(value);
  for (const char *at = choices; bytes; at += strcspn(at, "|") + 1) {
    if (strcspn(at, "|") == bytes && memcmp(at, value, bytes) == 0) return true;
    if (!strchr(at, '|')) return false;
  }
  return false;
}

// The option that `argument` names, `value` set when it brings one (`--name=VALUE`), NULL: unknown.
static const struct option *option_find(const struct option *options, char *argument, char **value) {
  size_t bytes = strcspn(argument, "=");
  *value = argument[bytes] ? argument + bytes + 1 : NULL;
  for (; options->name; options++)
    if (strlen(options->name) == bytes && memcmp(options->name, argument, bytes) == 0) return options;
  return NULL;
}

static bool take_number(const char *command, const struct option *option, const char *value) {
  if (options_number(value, option->low, option->high, option->into)) return true;
  complain("%s: bad value '%s' for %s; give a whole number from %" PRIu64 " to %" PRIu64, command, value, option->name,
           option->low, option->high);
  return false;
}

static bool take_choice(const char *command, const struct option *option, const char *value) {
  *(const char **)option->into = value;
  if (choice_has(option->choices, value)) return true;
  complain("%s: bad value '%s' for %s; give one of %s", command, value, option->name, option->choices);
  return false;
}

static bool take_each(const char *command, const struct option *option, const char *value) {
  struct option_list *list = option->into;
  if (list->count == OPTION_LIST_MAX) {
    complain("%s: %s: more than %d of them; join some", command, option->name, OPTION_LIST_MAX);
    return false;
  }
  list->values[list->count++] = value;
  return true;
}

static bool option_take(const char *command, const struct option *option, const char *value) {
  if (option->kind == OPTION_NUMBER) return take_number(command, option, value);
  if (option->kind == OPTION_CHOICE) return take_choice(command, option, value);
  if (!value[0]) {
    complain("%s: %s: its value is empty; see heaptide help %s", command, option->name, command);
    return false;
  }
  if (option->kind == OPTION_EACH) return take_each(command, option, value);
  *(const char **)option->into = value;
  return true;
}

static void option_unknown(const char *command, const struct option *options, const char *argument) {
  struct hint_nearest nearest = hint_nearest_to(argument, strcspn(argument, "="));
  for (; options->name; options++) hint_offer(&nearest, options->name);
  if (nearest.name)
    complain("%s: unknown option %s; did you mean %s? (heaptide help %s)", command, argument, nearest.name, command);
  else
    complain("%s: unknown option %s; see heaptide help %s", command, argument, command);
}

// Handles argv[at]. Returns how many arguments it took, -1 after a complaint.
static int option_handle(const char *command, const struct option *options, int argc, char **argv, int at) {
  char *value;
  const struct option *option = option_find(options, argv[at], &value);
  if (!option) {
    option_unknown(command, options, argv[at]);
    return -1;
  }
  if (option->kind == OPTION_FLAG) {
    if (value) {
      complain("%s: %s takes no value; leave '=%s' out", command, option->name, value);
      return -1;
    }
    *(bool *)option->into = true;
    return 1;
  }
  if (value) return option_take(command, option, value) ? 1 : -1;
  // `--out --py`: the value was forgotten. (`--out=--py` means a folder of that name.)
  if (at + 1 >= argc || !strcmp(argv[at + 1], "--") || option_find(options, argv[at + 1], &value)) {
    complain("%s: %s: its value is missing; see heaptide help %s", command, option->name, command);
    return -1;
  }
  return option_take(command, option, argv[at + 1]) ? 2 : -1;
}

// For completion and tests: `NAME KIND [CHOICES]` of each option, one a line.
static int options_list(const struct option *options) {
  static const char *const kinds[] = {"flag", "text", "number", "choice", "each"};
  for (; options->name; options++)
    if (options->kind == OPTION_CHOICE)
      printf("%s %s %s\n", options->name, kinds[options->kind], options->choices);
    else
      printf("%s %s\n", options->name, kinds[options->kind]);
  return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
}

static bool asks_for_help(const char *argument) { return !strcmp(argument, "-h") || !strcmp(argument, "--help"); }

int options_parse(const char *command, const struct option *options, bool stop_at_operand, int argc, char **argv) {
  int operands = 0, at = 1;
  while (at < argc) {
    const char *argument = argv[at];
    bool is_option = argument[0] == '-' && argument[1];
    if (is_option && asks_for_help(argument)) exit(help_show(command));
    if (at == 1 && !strcmp(argument, "--list-options")) exit(options_list(options));
    if (is_option && !strcmp(argument, "--")) {
      at++;
      break;
    }
    if (is_option) {
      int taken = option_handle(command, options, argc, argv, at);
      if (taken < 0) return -1;
      at += taken;
      continue;
    }
    if (stop_at_operand) break;
    argv[1 + operands++] = argv[at++];
  }
  while (at < argc) argv[1 + operands++] = argv[at++];
  argv[1 + operands] = NULL;
  return operands;
}
