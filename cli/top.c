// `heaptide top`: what a traced process holds, live.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "outdir.h"
#include "problem.h"
#include "session.h"
#include "top_lines.h"
#include "top_screen.h"
#include "top_threads.h"
#include "watched_folder.h"

#define PLAIN_S 1 // between the two views that rates are told from

// ---- plain text

static void plain_threads(const struct view *view) {
  const struct view_thread **threads = top_threads_sorted(view, TOP_BY_ALLOCATIONS);
  char line[TOP_LINE_BYTES];
  if (view->thread_row_count) puts("");
  for (size_t i = 0; i < view->thread_row_count; i++) {
    if (i == 0) top_threads_heading(line, TOP_WIDTH_PLAIN), puts(line);
    top_threads_row(line, threads[i], TOP_WIDTH_PLAIN);
    puts(line);
  }
  free(threads);
}

static void plain_show(const struct watch *watch) {
  const struct view *view = watch_view(watch);
  const struct view_row **rows = top_sorted(view, TOP_BY_LIVE);
  char line[TOP_LINE_BYTES];
  top_line_process(line, watch, TOP_WIDTH_PLAIN);
  puts(line);
  top_line_more(line, watch, TOP_SITES, TOP_BY_LIVE, TOP_WIDTH_PLAIN);
  puts(line);
  top_line_heading(line, TOP_WIDTH_PLAIN);
  puts(line);
  for (size_t i = 0; i < view->row_count; i++) {
    top_line_row(line, rows[i], TOP_WIDTH_PLAIN);
    puts(line);
  }
  free(rows);
  plain_threads(view);
}

static int plain(struct top *top) {
  nanosleep(&(struct timespec){.tv_sec = PLAIN_S}, NULL);
  if (top->watch.state != WATCH_ENDED) watch_look(&top->watch);
  if (!top->watch.view_count) {
    complain("%d: no figures yet: it has not allocated since it is recorded; try again later",
             (int)top->watch.traced.pid);
    return STATUS_ERROR;
  }
  plain_show(&top->watch);
  if (fflush(stdout) == 0) return STATUS_OK;
  complain("top: stdout cannot be written; check where it goes");
  return STATUS_ERROR;
}

// ---- which process

// The one that was started first: the main process of a run, mostly.
static size_t main_index(const struct traced_list *processes, pid_t pid) {
  size_t lowest = 0;
  for (size_t i = 0; i < processes->count; i++) {
    if (processes->table[i].pid == pid) return i;
    if (processes->table[i].pid < processes->table[lowest].pid) lowest = i;
  }
  return lowest;
}

static int watch_all(struct top *top, pid_t pid) {
  if (!traced_find(top->folder, &top->processes)) {
    complain("%s: %s; name the folder of a run that goes on", top->folder, strerror(errno));
    return STATUS_ERROR;
  }
  if (top->processes.count == 0) {
    complain("%s: no traced process runs there; name the folder of a run that goes on", top->folder);
    return STATUS_ERROR;
  }
  top->shown = main_index(&top->processes, pid);
  watch_begin(&top->watch, top->folder, &top->processes.table[top->shown]);
  bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  int status = terminal && top_screen(top) ? STATUS_OK : plain(top);
  watch_end(&top->watch);
  traced_free(&top->processes);
  return status;
}

int command_top(int argc, char **argv) {
  static struct top top;
  static char folder[PATH_MAX];
  const struct option none[] = {{0}};
  uint64_t pid = 0;
  struct stat found;
  int operands = options_parse("top", none, false, argc, argv);
  if (operands < 0) return STATUS_ERROR;
  if (operands != 1) {
    complain("top: %s; heaptide top DIR|PID", operands ? "more than one operand" : "no folder or PID given");
    return STATUS_ERROR;
  }
  top.folder = argv[1];
  bool is_folder = stat(argv[1], &found) == 0 && S_ISDIR(found.st_mode);
  if (!is_folder && options_number(argv[1], 1, INT32_MAX, &pid)) {
    if (!watched_folder((pid_t)pid, folder)) return STATUS_ERROR;
    top.folder = folder;
  }
  return watch_all(&top, (pid_t)pid);
}
