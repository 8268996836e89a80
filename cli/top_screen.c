#include "top_screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "memory.h"
#include "problem.h"
#include "report_input.h"
#include "top_lines.h"
#include "top_threads.h"

#define LOOK_S 1.0
#define COLUMNS_MIN 30
#define LINES_MIN 6
#define LABELS_MAX 10000

enum { LINE_PROCESS, LINE_MORE, LINE_HEADING, LINE_FIRST_ROW };

struct screen {
  struct top *top;
  enum top_table table;
  enum top_sort sorts[TOP_TABLES];
  bool frozen, help, colour;
  size_t first; // row at the top
  double due_s; // of the next look
  char message[256];
  pid_t snapshot; // that is being taken, 0: none
  char label[32];
  int said; // by whoever takes it
};

static volatile sig_atomic_t ended_by; // a signal

static void on_signal(int signal) { ended_by = signal; }

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- drawing

static void line_draw(int y, attr_t attributes, const char *text) {
  char line[TOP_LINE_BYTES];
  top_line_cut(line, text, COLS);
  attrset((int)attributes);
  mvaddstr(y, 0, line);
  attrset(A_NORMAL);
}

static void text_state(const struct screen *screen, char text[512]) {
  const struct watch *watch = &screen->top->watch;
  int pid = (int)watch->traced.pid;
  if (watch->state == WATCH_ENDED)
    snprintf(text, 512, "process %d has ended: this is the last view of it", pid);
  else if (watch->state == WATCH_LEFT)
    snprintf(text, 512, "process %d is not recorded any more: this is the last view of it", pid);
  else if (screen->message[0])
    snprintf(text, 512, "%s", screen->message);
  else if (screen->frozen)
    snprintf(text, 512, "FROZEN: space goes on");
  else
    snprintf(text, 512, "%s",
             screen->table == TOP_THREADS
                 ? "q quit  ? help  t sites  sort: l net g growth a allocs/s c allocations"
                 : "q quit  ? help  t threads  sort: l live g growth a allocs d device  s snapshot");
}

static void state_draw(const struct screen *screen) {
  char text[512];
  text_state(screen, text);
  line_draw(LINES - 1, A_REVERSE, text);
}

static attr_t growth_attributes(const struct screen *screen, double growth_bytes_per_s) {
  return screen->colour && growth_bytes_per_s >= 1 ? (attr_t)COLOR_PAIR(1) : A_NORMAL;
}

// Which rows have a line: where they do not fit, the last line says how many follow.
struct span {
  size_t first, end, after;
};

static struct span rows_span(struct screen *screen, size_t count) {
  size_t room = (size_t)(LINES - 1 - LINE_FIRST_ROW);
  if (screen->first >= count) screen->first = count ? count - 1 : 0;
  bool fit = count - screen->first <= room;
  size_t end = fit ? count : screen->first + room - 1;
  return (struct span){screen->first, end, count - end};
}

static void after_draw(const struct span *span) {
  char text[64];
  if (!span->after) return;
  snprintf(text, sizeof text, "... and %zu more (down, PgDn)", span->after);
  line_draw(LINES - 2, A_DIM, text);
}

static void rows_draw(struct screen *screen) {
  const struct view *view = watch_view(&screen->top->watch);
  const struct view_row **rows = top_sorted(view, screen->sorts[TOP_SITES]);
  struct span span = rows_span(screen, view->row_count);
  char line[TOP_LINE_BYTES];
  for (size_t at = span.first; at < span.end; at++) {
    top_line_row(line, rows[at], COLS);
    line_draw(LINE_FIRST_ROW + (int)(at - span.first), growth_attributes(screen, rows[at]->growth_bytes_per_s), line);
  }
  after_draw(&span);
  free(rows);
}

static void threads_draw(struct screen *screen) {
  const struct view *view = watch_view(&screen->top->watch);
  const struct view_thread **threads = top_threads_sorted(view, screen->sorts[TOP_THREADS]);
  struct span span = rows_span(screen, view->thread_row_count);
  char line[TOP_LINE_BYTES];
  for (size_t at = span.first; at < span.end; at++) {
    top_threads_row(line, threads[at], COLS);
    line_draw(LINE_FIRST_ROW + (int)(at - span.first), growth_attributes(screen, threads[at]->growth_bytes_per_s),
              line);
  }
  after_draw(&span);
  free(threads);
}

static void more_draw(const struct screen *screen) {
  char line[TOP_LINE_BYTES], more[TOP_LINE_BYTES + 64];
  const struct top *top = screen->top;
  top_line_more(line, &top->watch, screen->table, screen->sorts[screen->table], COLS);
  snprintf(more, sizeof more, "%s", line);
  if (top->processes.count > 1)
    snprintf(more, sizeof more, "%s  process %zu of %zu (n)", line, top->shown + 1, top->processes.count);
  line_draw(LINE_MORE, A_NORMAL, more);
}

static void table_draw(struct screen *screen) {
  const struct watch *watch = &screen->top->watch;
  char line[TOP_LINE_BYTES];
  if (!watch->view_count) {
    line_draw(LINE_PROCESS, A_BOLD, "no figures yet: the process has not allocated since it is recorded");
    return;
  }
  top_line_process(line, watch, COLS);
  line_draw(LINE_PROCESS, A_BOLD, line);
  more_draw(screen);
  screen->table == TOP_THREADS ? top_threads_heading(line, COLS) : top_line_heading(line, COLS);
  line_draw(LINE_HEADING, A_BOLD, line);
  screen->table == TOP_THREADS ? threads_draw(screen) : rows_draw(screen);
}

static void help_draw(void) {
  static const char *const lines[] = {"heaptide top",
                                      "t        threads, sites",
                                      "l g a    sort: live or net, growth, calls",
                                      "d c      sites: device; threads: all calls",
                                      "space    freeze, go on",
                                      "s        snapshot of all processes",
                                      "n p      next, previous process",
                                      "up down  scroll; PgUp, PgDn, Home",
                                      "q        quit",
                                      "any key  back"};
  for (int y = 0; y < (int)(sizeof lines / sizeof *lines) && y < LINES; y++)
    line_draw(y, y ? A_NORMAL : A_BOLD, lines[y]);
}

static void draw(struct screen *screen) {
  erase();
  if (COLS < COLUMNS_MIN || LINES < LINES_MIN) {
    line_draw(0, A_NORMAL, "window too small");
  } else if (screen->help) {
    help_draw();
  } else {
    table_draw(screen);
    state_draw(screen);
  }
  refresh();
}

// ---- a snapshot: another heaptide takes it, so that the view goes on

// A label that is not taken yet.
static bool label_choose(struct screen *screen) {
  for (int number = 1; number < LABELS_MAX; number++) {
    snprintf(screen->label, sizeof screen->label, "top-%d", number);
    char *path = memory_format("%s/%s", screen->top->folder, screen->label);
    bool is_free = access(path, F_OK) != 0;
    free(path);
    if (is_free) return true;
  }
  return false;
}

static _Noreturn void snapshot_exec(const struct screen *screen, int said) {
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  execl("/proc/self/exe", "heaptide", "snapshot", "--label", screen->label, "--", screen->top->folder, (char *)NULL);
  _exit(STATUS_ERROR);
}

// Where it failed, the first line that it said.
static void snapshot_end(struct screen *screen, bool taken) {
  char text[sizeof screen->message];
  ssize_t bytes = read(screen->said, text, sizeof text - 1);
  text[bytes > 0 ? bytes : 0] = 0;
  text[strcspn(text, "\n")] = 0;
  if (taken)
    snprintf(screen->message, sizeof screen->message, "snapshot %s of %.200s", screen->label, screen->top->folder);
  else
    snprintf(screen->message, sizeof screen->message, "%s", text[0] ? text : "no snapshot was taken");
  close(screen->said);
  screen->snapshot = 0;
}

static void snapshot_begin(struct screen *screen) {
  int said[2];
  if (screen->snapshot || !label_choose(screen) || pipe2(said, O_CLOEXEC) != 0) return;
  screen->snapshot = fork();
  if (screen->snapshot == 0) snapshot_exec(screen, said[1]);
  close(said[1]);
  screen->said = said[0];
  if (screen->snapshot < 0) return snapshot_end(screen, false);
  snprintf(screen->message, sizeof screen->message, "taking a snapshot ...");
}

static void snapshot_look(struct screen *screen) {
  int status = 0;
  if (screen->snapshot && waitpid(screen->snapshot, &status, WNOHANG) != 0)
    snapshot_end(screen, WIFEXITED(status) && WEXITSTATUS(status) == STATUS_OK);
}

// ---- keys

static void process_show(struct screen *screen, size_t step) {
  struct top *top = screen->top;
  struct traced_list found;
  pid_t pid = top->watch.traced.pid;
  if (!traced_find(top->folder, &found)) return;
  if (found.count == 0 || (found.count == 1 && found.table[0].pid == pid)) {
    snprintf(screen->message, sizeof screen->message, "no other process is recorded into %.200s", top->folder);
    traced_free(&found);
    return;
  }
  size_t at = 0;
  while (at < found.count && found.table[at].pid != pid) at++;
  traced_free(&top->processes);
  top->processes = found;
  top->shown = at < found.count ? (at + (step ? step : found.count - 1)) % found.count : 0;
  watch_end(&top->watch);
  watch_begin(&top->watch, top->folder, &found.table[top->shown]);
  screen->first = 0;
  screen->frozen = false;
  screen->message[0] = 0;
}

// What the table shown has no column for is no order of its.
static void sort_by(struct screen *screen, enum top_sort sort) {
  enum top_sort other = screen->table == TOP_THREADS ? TOP_BY_DEVICE : TOP_BY_COUNT;
  if (sort == other) return;
  screen->sorts[screen->table] = sort;
  screen->first = 0;
}

static void table_turn(struct screen *screen) {
  screen->table = screen->table == TOP_THREADS ? TOP_SITES : TOP_THREADS;
  screen->first = 0;
}

static void scroll_by(struct screen *screen, int rows) {
  if (rows < 0 && screen->first < (size_t)-rows)
    screen->first = 0;
  else
    screen->first += (size_t)rows;
}

// False: quit.
static bool key_take(struct screen *screen, int key) {
  int page = LINES > LINES_MIN ? LINES - LINE_FIRST_ROW - 2 : 1;
  if (screen->help && key != 'q' && key != KEY_RESIZE) key = 0, screen->help = false;
  switch (key) {
  case 'q':
  case 'Q':
    return false;
  case 'l':
    return sort_by(screen, TOP_BY_LIVE), true;
  case 'g':
    return sort_by(screen, TOP_BY_GROWTH), true;
  case 'a':
    return sort_by(screen, TOP_BY_ALLOCATIONS), true;
  case 'd':
    return sort_by(screen, TOP_BY_DEVICE), true;
  case 'c':
    return sort_by(screen, TOP_BY_COUNT), true;
  case 't':
    return table_turn(screen), true;
  case ' ':
    screen->frozen = !screen->frozen;
    screen->due_s = 0;
    screen->message[0] = 0;
    return true;
  case 's':
    return snapshot_begin(screen), true;
  case 'n':
  case '\t':
    return process_show(screen, 1), true;
  case 'p':
    return process_show(screen, 0), true;
  case '?':
  case 'h':
    return screen->help = true;
  case KEY_UP:
    return scroll_by(screen, -1), true;
  case KEY_DOWN:
    return scroll_by(screen, 1), true;
  case KEY_PPAGE:
    return scroll_by(screen, -page), true;
  case KEY_NPAGE:
    return scroll_by(screen, page), true;
  case KEY_HOME:
    return scroll_by(screen, INT_MIN / 2), true;
  case KEY_RESIZE: // a terminal may have moved its lines about
    return clearok(curscr, TRUE), true;
  }
  return true;
}

// A terminal that is gone would answer at once for ever.
static bool terminal_is_there(void) {
  struct pollfd terminal = {STDIN_FILENO, 0, 0};
  return poll(&terminal, 1, 0) >= 0 && !(terminal.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void loop(struct screen *screen) {
  for (;;) {
    double left_s = screen->due_s - now_s();
    if (left_s <= 0) {
      if (!screen->frozen && screen->top->watch.state != WATCH_ENDED) watch_look(&screen->top->watch);
      screen->due_s = now_s() + LOOK_S;
      left_s = LOOK_S;
    }
    snapshot_look(screen);
    draw(screen);
    timeout(screen->snapshot ? 50 : (int)(left_s * 1000) + 1);
    int key = getch();
    if (ended_by || !terminal_is_there() || (key != ERR && !key_take(screen, key))) return;
  }
}

// ---- the terminal

static void signals_take(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_signal};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

// Lines on stderr, of a symbolizer that is missing for example, would lie across the table.
static int stderr_hide(void) {
  int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (kept >= 0 && null >= 0) dup2(null, STDERR_FILENO);
  if (null >= 0) close(null);
  return kept;
}

static void stderr_show(int kept) {
  if (kept < 0) return;
  dup2(kept, STDERR_FILENO);
  close(kept);
}

static void terminal_set(struct screen *screen) {
  cbreak();
  noecho();
  keypad(stdscr, TRUE);
  curs_set(0);
  set_escdelay(25);
  screen->colour = colour_wanted(false) && has_colors();
  if (!screen->colour) return;
  start_color();
  use_default_colors();
  init_pair(1, COLOR_RED, -1);
}

static void end_say(const struct watch *watch, const char *folder) {
  if (watch->state == WATCH_ENDED)
    complain("process %d has ended (heaptide report %s)", (int)watch->traced.pid, folder);
  if (ended_by && ended_by != SIGINT) {
    signal(ended_by, SIG_DFL);
    raise(ended_by);
  }
}

bool top_screen(struct top *top) {
  static struct screen screen;
  screen = (struct screen){.top = top, .sorts = {TOP_BY_LIVE, TOP_BY_ALLOCATIONS}};
  setlocale(LC_CTYPE, "");
  unsetenv("LINES"); // what they were when they were exported: ncurses would take them for the window's size
  unsetenv("COLUMNS");
  SCREEN *terminal = newterm(NULL, stdout, stdin);
  if (!terminal) return false;
  signals_take();
  int kept = stderr_hide();
  terminal_set(&screen);
  screen.due_s = now_s() + LOOK_S;
  loop(&screen);
  endwin();
  delscreen(terminal);
  stderr_show(kept);
  end_say(&top->watch, top->folder);
  return true;
}
