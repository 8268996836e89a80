#include "help_topics.h"

#include <stddef.h>
#include <string.h>

// The completion scripts stand in the command itself, so that it can hand them out wherever it is.
#define EMBED(name, path)                                                                                              \
  __asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n");                           \
  extern const char name[] __asm__(#name)
EMBED(completion_bash, "cli/completion/bash/heaptide");
EMBED(completion_zsh, "cli/completion/zsh/_heaptide");

static const char leaks_text[] =
    "A leak is a block that nobody freed and that nothing reaches when the report is taken: no word in a global,\n"
    "on a stack from its stack pointer up, in a register, in thread-local storage or in a reachable block points\n"
    "to it or into it.\n"
    "\n"
    "  direct     no other leaked block points to it: mend these first\n"
    "  indirect   another leaked block does, and it goes when that one goes\n"
    "\n"
    "Memory that is still reachable at the end is not leaked; PEAK names who holds it, and heaptide diff of two\n"
    "snapshots or runs what has grown. Lost objects of Python stand in the PYTHON list and fail no gate, as the\n"
    "collector may still come for them.\n";

static const char growth_text[] =
    "GROWTH judges whether live memory keeps rising after setup: least squares over the samples after the first\n"
    "20 % of the run. It fails when that line rises by over 64 KiB and by over 5 % of the mean (with --growth-limit:\n"
    "by over that many MiB). What fails is looked at again from later starts, in steps of 2.5 % of the run up to\n"
    "half of it, and passes when one of them does: a cache that fills slowly is no growth. Fewer than 8 samples are\n"
    "not judged (--every MS sets their distance). Of estimates (--sample) a rise that may be chance is no growth.\n"
    "Below the verdict stand the sites whose own memory rises, steepest first, also where the verdict passes.\n";

static const char suppressions_text[] =
    "A file for --supp has one pattern a line, in the syntax of LeakSanitizer:\n"
    "\n"
    "  leak:parse_config      a function, source file or module in any frame of the stack\n"
    "  leak:lib*.so           * stands for any text\n"
    "  leak:^main$            ^ and $ are the start and the end; without them the pattern may stand anywhere\n"
    "  # why                  a comment\n"
    "\n"
    "A line without leak: is a pattern too. Suppressed leaks are counted apart and fail no gate. heaptide report\n"
    "--print-suppressions shows the patterns in force and how much each matched.\n";

static const char kinds_text[] = "Every byte is counted once, as one of\n"
                                 "\n"
                                 "  heap      malloc, calloc, realloc, C++ new and all that comes through them\n"
                                 "  mmap      anonymous private mappings that the program made itself\n"
                                 "  python    an object from CPython's own allocators (with --py)\n"
                                 "  device    memory of a GPU\n"
                                 "  pinned    page-locked memory of the host, for a GPU\n"
                                 "  managed   unified memory of host and GPU\n"
                                 "\n"
                                 "Bytes are what the program asked for, not what an allocator rounded them up to.\n";

static const char python_text[] =
    "heaptide run --py records every allocation of Python by its line, beside the native ones. Native memory that\n"
    "a line of Python made carries that line too. Numbers are taken in the last atexit callback, before the\n"
    "interpreter is torn down. Leaked in the PYTHON list means: unreachable from modules, frames, threads and C,\n"
    "cycles that the collector has not yet come for included.\n"
    "\n"
    "  python arenas, free   what Python's allocator keeps mapped beyond its objects\n"
    "  [no Python code]      allocated by the interpreter outside of any line: its start, the parser\n"
    "  [import]              Python's import system: what modules' code takes, at the import that the program ran\n"
    "  [truncated]           the stack goes on: --depth N keeps more native frames, --py-depth N more lines\n"
    "  [on behalf of]        further out are the lines that queued this in an executor, or asked for a backward pass\n"
    "  [started on behalf of]  ... that started the thread; it may have done other work since\n"
    "  [backward of]         ... of PyTorch's forward pass\n"
    "\n"
    "Memory that only grows is usually held, not lost: see GROWTH, and held by.\n"
    "Tests: pytest --heaptide says what each leaks (docs/ci.md).\n";

static const char marks_text[] =
    "A program can name points in time: where an epoch, a request or a phase begins. A repeated name is an iteration.\n"
    "\n"
    "  heaptide.mark(\"epoch\")     in Python, with heaptide installed in the program's own environment\n"
    "  heaptide_mark(\"epoch\");    in C and C++, with #include <heaptide.h>; nothing is linked\n"
    "\n"
    "MARKS in the report says of each name how often it came, when and with how much live memory first and last, and\n"
    "what that grew by from one time to the next. The page of heaptide flame draws marks across its timeline (a click\n"
    "on one shows its iteration alone) and has a table of them, --json and heaptide export --format chrome have each,\n"
    "heaptide diff compares the growth. A program that is not recorded can make marks too: they do nothing.\n"
    "heaptide.snapshot(\"before\") and heaptide_snapshot(\"before\") write a report of that moment. In Python\n"
    "with heaptide.track(out=\"folder\") records a block of a program that was not started under heaptide run.\n";

static const char gates_text[] =
    "Exit statuses that stop a pipeline:\n"
    "\n"
    "  heaptide run --fail-on leaks -- CMD     1 when CMD ended with 0 and leaked\n"
    "  heaptide report --fail-on any           1 on leaks or growth; --junit FILE writes them for a CI server\n"
    "  heaptide diff BASE NEW                  1 when a site is new; --fail-on grown: or has grown\n"
    "  pytest --heaptide                       fails tests over their limit_leaks or limit_memory\n"
    "\n"
    "2 is an error of heaptide's own: a bad option, a missing or damaged file. docs/ci.md has whole examples.\n";

static const char environment_text[] = "  HEAPTIDE_DEPTH        native frames kept of a stack, as --depth\n"
                                       "  HEAPTIDE_SYMBOLIZER   the llvm-symbolizer to ask for names and lines\n"
                                       "  DEBUGINFOD_URLS       servers to fetch missing debug files from\n"
                                       "  NO_COLOR              plain text on a terminal too\n";

static const char files_text[] =
    "heaptide run leaves a folder, heaptide.PROGRAM.PID or --out DIR, with one file for each process:\n"
    "heaptide.PID.bin, and heaptide.PID-N.bin for the N-th program that a process became by exec. A file is written\n"
    "under another name and renamed, so it is whole or not there. Commands that read reports take the newest\n"
    "heaptide.* folder here when none is named. Names are read from the programs' files when a report is shown:\n"
    "keep these as they were recorded.\n";

static const char completion_text[] =
    "For this shell only:\n"
    "\n"
    "  bash   source <(heaptide help bash-completion)\n"
    "  zsh    source <(heaptide help zsh-completion)\n"
    "\n"
    "For all: write the same into ~/.local/share/bash-completion/completions/heaptide, or as _heaptide into a folder\n"
    "of zsh's fpath. Packages of heaptide bring both in share/.\n";

const struct help_topic help_topics[] = {
    {"leaks", "what counts as a leak, direct and indirect", leaks_text},
    {"growth", "when memory counts as growing", growth_text},
    {"suppressions", "leaving out leaks that are known", suppressions_text},
    {"kinds", "heap, mmap, python, device, pinned, managed", kinds_text},
    {"python", "what --py records", python_text},
    {"marks", "points in time that the program names", marks_text},
    {"gates", "exit statuses for scripts and CI", gates_text},
    {"environment", "variables that heaptide reads", environment_text},
    {"files", "where reports are, and what they need to be read", files_text},
    {"completion", "completion of commands and options in bash and zsh", completion_text},
    {"bash-completion", NULL, completion_bash},
    {"zsh-completion", NULL, completion_zsh},
    {0},
};

const struct help_topic *help_topic_find(const char *name) {
  for (const struct help_topic *topic = help_topics; topic->name; topic++)
    if (strcmp(topic->name, name) == 0) return topic;
  return NULL;
}
