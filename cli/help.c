#include "help.h"

#include <stdio.h>

#include "commands.h"
#include "options.h"

const char help_run[] =
    "usage: heaptide run [options] [--] CMD [ARG...]\n"
    "\n"
    "Runs CMD and records its memory and its children's, one report file per process.\n"
    "Ends with CMD's own status. 125: heaptide itself failed, 126: CMD cannot be executed,\n"
    "127: CMD was not found, 1 with --fail-on: CMD ended with 0 and a report holds such a finding.\n"
    "\n"
    "  --py               record Python's own allocations too, by file and line\n"
    "  --py-depth N       Python frames kept of each allocation (1; no more in this version)\n"
    "  --out DIR          where the reports go (a new folder heaptide.<prog>.<pid>)\n"
    "  --overwrite        DIR may hold reports: they are removed first\n"
    "  --no-children      record only the process that CMD starts as\n"
    "  --only NAME,...    record only programs with these names\n"
    "  --depth N          native frames kept of a stack (64; with --py 8); HEAPTIDE_DEPTH sets it too\n"
    "  --every MS         sampling period in milliseconds (100)\n"
    "  --sample BYTES     0: every allocation (0; nothing else in this version)\n"
    "  --fail-on WHAT     any, leaks, growth or none (none)\n"
    "  -q                 no closing line\n";

const char help_report[] =
    "usage: heaptide report [DIR] [options]\n"
    "\n"
    "Shows the reports in DIR (by default the newest heaptide.* folder here).\n"
    "Ends with 0: clean, 1: a finding that --fail-on names, 2: bad option, missing or damaged file.\n"
    "\n"
    "  --json                      one JSON object per process, one per line\n"
    "  --top N                     rows of each list (10)\n"
    "  --pid PID                   only this process\n"
    "  --folded WHAT               folded stacks: leaked, live, peak, allocated or temporaries\n"
    "  --fail-on WHAT              any, leaks, growth or none (any)\n"
    "  --growth-limit MIB          growth is a projected rise over this much\n"
    "  --supp FILE                 suppressions in LeakSanitizer's syntax (repeatable)\n"
    "  --print-suppressions        the suppressions in force and what they matched\n"
    "  --no-builtin-suppressions   show known library leaks too\n"
    "  --no-color                  plain text on a terminal too; NO_COLOR sets it too\n";

const char help_doctor[] =
    "usage: heaptide doctor [NAME...]\n"
    "\n"
    "Says what this machine offers and how to get what is missing.\n"
    "With names (library, symbolizer, gdb, ptrace, hip, python) only those are looked at,\n"
    "and it ends with 1 when one of them is missing. Without, everything but the library is optional.\n";

const char help_help[] = "usage: heaptide help [CMD]\n"
                         "\n"
                         "Lists the commands, or shows how CMD is used.\n";

static void list_show(void) {
  puts("usage: heaptide COMMAND [options]\n");
  for (const struct command *command = commands; command->name; command++)
    if (command->run) printf("  %-9s %s\n", command->name, command->summary);
  puts("\nheaptide help COMMAND shows its options, heaptide --version the version.");
}

int help_show(const char *name) {
  if (!name) {
    list_show();
    return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
  }
  const struct command *command = command_find(name);
  if (!command || !command->run) {
    complain("help: %s: %s; see heaptide help", name, command ? "not in this version" : "unknown command");
    return STATUS_ERROR;
  }
  fputs(command->help, stdout);
  return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
}

int command_help(int argc, char **argv) {
  const struct option none[] = {{0}};
  int operands = options_parse("help", none, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands > 1) {
    complain("help: more than one command; give one");
    return STATUS_ERROR;
  }
  return help_show(operands ? argv[1] : NULL);
}
