#include "help.h"

#include <stdio.h>

#include "commands.h"
#include "help_topics.h"
#include "options.h"
#include "problem.h"

const char help_run[] =
    "usage: heaptide run [options] [--] CMD [ARG...]\n"
    "\n"
    "Runs CMD and records its memory and its children's, one report file per process.\n"
    "Ends with CMD's own status. 125: heaptide itself failed, 126: CMD cannot be executed,\n"
    "127: CMD was not found, 1 with --fail-on: CMD ended with 0 and a report holds such a finding.\n"
    "\n"
    "  --py               record Python's own allocations too, by file and line\n"
    "  --py-depth N       Python frames kept of each allocation (1)\n"
    "  --gpu              GPU memory pools of frameworks off, so that each tensor is a block of its own\n"
    "  --gpu-timeline P   follow over time: sites, streams, frag (joined by commas), or all\n"
    "  --per-thread       each thread's share of every site too: the page filters by it, --json has it\n"
    "  --out DIR          where the reports go (a new folder heaptide.<prog>.<pid>)\n"
    "  --overwrite        DIR may hold reports: they are removed first\n"
    "  --no-children      record only the process that CMD starts as\n"
    "  --only NAME,...    record only programs of these names\n"
    "  --depth N          native frames kept of a stack (64; with --py 8); HEAPTIDE_DEPTH sets it too\n"
    "  --every MS         sampling period in milliseconds (100)\n"
    "  --snapshot-every S a report of each process every S seconds, replaced by the next one\n"
    "  --sample BYTES     record the heap's blocks about BYTES apart only and estimate (0: every block)\n"
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
    "  --junit FILE                the findings as JUnit XML too, for CI servers\n"
    "  --growth-limit MIB          growth is a projected rise over this much\n"
    "  --supp FILE                 suppressions in LeakSanitizer's syntax (repeatable)\n"
    "  --print-suppressions        the suppressions in force and what they matched\n"
    "  --no-builtin-suppressions   show known library leaks too\n"
    "  --no-color                  plain text on a terminal too; NO_COLOR sets it too\n";

const char help_flame[] =
    "usage: heaptide flame [DIR] [options]\n"
    "\n"
    "Writes the reports in DIR (by default the newest heaptide.* folder here) as one HTML page: flame graph,\n"
    "timeline and tables of all processes. The page needs no network; press ? in it for its keys.\n"
    "Ends with 2 when no page could be written or a file is damaged.\n"
    "\n"
    "  -o OUT.html                 where the page goes (DIR.html); -: to stdout\n"
    "  --open                      shows it in the browser (xdg-open, or what BROWSER names)\n"
    "  --pid PID                   this process only\n"
    "  --supp FILE                 suppressions in LeakSanitizer's syntax (repeatable)\n"
    "  --no-builtin-suppressions   show known library leaks too\n";

const char help_diff[] =
    "usage: heaptide diff BASE NEW [options]\n"
    "\n"
    "Compares two report folders (of two builds, two runs, or two snapshots) site by site. Sites are matched by\n"
    "their functions, without lines: code that only moved is no change. NEW and GONE: memory that leaks, or is\n"
    "live at the end, at a site where none did; GROWN and SHRUNK: by over 64 KiB and 10 %.\n"
    "Ends with 0, 1: a change that --fail-on names, 2: bad option, missing or damaged file.\n"
    "\n"
    "  --fail-on WHAT              new, grown (those that are new too) or none (new)\n"
    "  --json                      one JSON object per pair of processes, one per line\n"
    "  --top N                     sites of each list (10)\n"
    "  --html FILE                 a page too: a flame graph, red where memory was added, blue where it went\n"
    "  --supp FILE                 suppressions in LeakSanitizer's syntax (repeatable)\n"
    "  --no-builtin-suppressions   known library leaks count too\n"
    "  --no-color                  plain text on a terminal too; NO_COLOR sets it too\n";

const char help_export[] =
    "usage: heaptide export [DIR] --format FORMAT -o OUT [options]\n"
    "\n"
    "Writes the reports in DIR (by default the newest heaptide.* folder here) in the format of another tool.\n"
    "\n"
    "  --format FORMAT             one of these:\n"
    "\n"
    "  speedscope   speedscope.app: a flame graph for each process and figure\n"
    "  pprof        go tool pprof, pprof.me: every figure of every site (profile.proto, gzipped)\n"
    "  chrome       ui.perfetto.dev, chrome://tracing: memory and calls over time, marks\n"
    "  massif       ms_print, massif-visualizer: one process over time, and its peak as a tree\n"
    "  folded       flamegraph.pl, inferno: one figure of each stack\n"
    "  csv          spreadsheets, pandas: every figure of every site\n"
    "\n"
    "  -o OUT                      the file to write; - is stdout\n"
    "  --what WHAT                 the figure of folded, and the first one that speedscope and pprof show: leaked,\n"
    "                              live, peak, allocated or temporaries (peak)\n"
    "  --pid PID                   only this process\n"
    "  --supp FILE                 suppressions in LeakSanitizer's syntax (repeatable): such leaks do not count\n"
    "  --no-builtin-suppressions   known library leaks count too\n";

const char help_snapshot[] =
    "usage: heaptide snapshot DIR [--label NAME]\n"
    "\n"
    "Has every traced process of DIR, the folder of a run that goes on, write its report now.\n"
    "The program is stopped for some milliseconds only; the leak scan is done on a copy of it.\n"
    "Ends with 0: written, 1: not within 60 s, 2: nothing runs there, or a bad option.\n"
    "\n"
    "  --label NAME   into DIR/NAME, a folder of its own: heaptide diff DIR/before DIR/after\n";

const char help_top[] =
    "usage: heaptide top DIR | PID\n"
    "\n"
    "Shows live what a process holds that is being recorded: its sites by live bytes, with what each grows by and\n"
    "allocates per second, and GPU bytes; or its threads, with what each allocated less what it freed (net).\n"
    "DIR is the folder of a run that goes on or of attach, PID a process of one.\n"
    "The process is not stopped and nothing is scanned; what it said last is at most a second old.\n"
    "Without a terminal the two tables are printed once.\n"
    "\n"
    "keys\n"
    "\n"
    "  t         threads; sites again\n"
    "  l g a     sort by live (threads: net) bytes, growth, allocations per second\n"
    "  d c       sort sites by device bytes; threads by all their allocations\n"
    "  space     freeze the view, go on\n"
    "  s         a snapshot of all processes of DIR, into DIR/top-1, top-2, ...\n"
    "  n p       the next, the previous process of DIR\n"
    "  up down   scroll; PgUp, PgDn, Home\n"
    "  ? q       help, quit\n";

const char help_attach[] =
    "usage: heaptide attach PID [options]\n"
    "\n"
    "Records what process PID allocates from now on. What it had before is not looked into: it counts as holding\n"
    "what it points to, so a report may lack leaks and never makes one up. Needs the right to trace the process.\n"
    "\n"
    "  --py               Python's objects by the line that makes them, in CPython 3.9 to 3.14\n"
    "  --py-depth N       Python frames kept of each allocation (1)\n"
    "  --gpu-timeline P   GPU memory over time: sites, streams, frag (joined by commas), or all\n"
    "  --per-thread       each thread's share of every site too\n"
    "  --out DIR          where the reports go (a new folder heaptide.<prog>.<pid>)\n"
    "\n"
    "heaptide top DIR shows it live, heaptide snapshot DIR writes a report, heaptide detach DIR the last one.\n";

const char help_detach[] = "usage: heaptide detach DIR\n"
                           "\n"
                           "Writes a last report of every process of DIR that was attached to and takes heaptide out.\n"
                           "The process runs on; it can be attached to again. A program that it started meanwhile is\n"
                           "recorded until it ends.\n";

const char help_doctor[] =
    "usage: heaptide doctor [NAME...]\n"
    "\n"
    "Says what this machine offers and how to get what is missing.\n"
    "With names (library, symbolizer, gdb, ptrace, hip, python) only those are looked at,\n"
    "and it ends with 1 when one of them is missing. Without, everything but the library is optional.\n";

const char help_help[] = "usage: heaptide help [CMD | TOPIC]\n"
                         "\n"
                         "Lists the commands and topics, shows how CMD is used, or what TOPIC is about.\n";

static void list_show(void) {
  puts("usage: heaptide COMMAND [options]\n");
  for (const struct command *command = commands; command->name; command++)
    if (command->run) printf("  %-9s %s\n", command->name, command->summary);
  puts("\ntopics\n");
  for (const struct help_topic *topic = help_topics; topic->name; topic++)
    if (topic->summary) printf("  %-12s %s\n", topic->name, topic->summary);
  puts("\nheaptide help COMMAND shows its options, heaptide help TOPIC what it is about, heaptide --version the "
       "version.");
}

int help_show(const char *name) {
  const struct command *command = name ? command_find(name) : NULL;
  const struct help_topic *topic = name ? help_topic_find(name) : NULL;
  if (!name) {
    list_show();
  } else if (command && command->run) {
    fputs(command->help, stdout);
  } else if (topic) {
    fputs(topic->text, stdout);
  } else {
    complain("help: %s: %s; see heaptide help", name, command ? "not in this version" : "no such command or topic");
    return STATUS_ERROR;
  }
  return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
}

int help_list(bool topics) {
  for (const struct command *command = commands; !topics && command->name; command++)
    if (command->run) puts(command->name);
  for (const struct help_topic *topic = help_topics; topics && topic->name; topic++)
    if (topic->summary) puts(topic->name);
  return fflush(stdout) ? STATUS_ERROR : STATUS_OK;
}

int command_help(int argc, char **argv) {
  const struct option none[] = {{0}};
  int operands = options_parse("help", none, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands > 1) {
    complain("help: more than one command or topic; give one");
    return STATUS_ERROR;
  }
  return help_show(operands ? argv[1] : NULL);
}
