#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "copy.h"
#include "core.h"
#include "count.h"
#include "lock.h"
#include "modules.h"
#include "process_info.h"
#include "report_holders.h"
#include "report_jit.h"
#include "report_marks.h"
#include "report_notes.h"
#include "report_owners.h"
#include "report_pinned.h"
#include "report_shared.h"
#include "report_tables.h"
#include "report_threads.h"
#include "report_timeline.h"
#include "report_types.h"
#include "sampler.h"
#include "site.h"
#include "stack_check.h"
#include "stop.h"
#include "sys.h"
#include "text.h"
#include "thread.h"
#include "writer.h"

#define SECTION_COUNT 23 // of enum ht_section_id, those that every report has

static const struct session *session;                        // set at start-up
static struct lock one_report = LOCK_INIT(LOCK_RANK_REPORT); // guards everything below
static int writing_tid;                                      // who has the lock; atomic
static uint32_t process_flags;                               // atomic
static uint64_t python_arena_free_bytes;
static const struct report_sections *front_sections; // set once, NULL: none

// Everything about one report while it is put together.
struct report {
  const struct report_order *order;
  struct report_tables tables;
  struct scan_result scan;
  struct report_holders holders;
  struct report_threads threads;
  struct report_owners owners;
  struct report_notes notes;
  struct ht_file_process process;
  uint32_t front_section_count;
};

void report_init(const struct session *given) { session = given; }
void report_flags_add(uint32_t flags) { __atomic_or_fetch(&process_flags, flags, __ATOMIC_RELAXED); }
void report_note_add(const char *sentence) { notes_keep(sentence); }
void report_note_forget(const char *sentence) { notes_forget(sentence); }
void report_sections_set(const struct report_sections *sections) { front_sections = sections; }
void report_python_arenas_set(uint64_t free_bytes) { python_arena_free_bytes = free_bytes; }

// The lock is the parent's: another thread of its may have held it.
void report_fork_child(void) {
  one_report.state = 0;
  writing_tid = 0;
  python_arena_free_bytes = 0;
  pinned_fork_child();
}

// ---- signals

// Those that a fault raises stay as they are: the scan reads memory that may turn out closed, and while they are
// blocked the kernel would kill.
uint64_t report_signals_block(void) {
  static const uint8_t faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  uint64_t set = ~0ull, saved = 0;
  for (size_t i = 0; i < sizeof faults; i++) set &= ~(1ull << (faults[i] - 1));
  sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&saved, sizeof set);
  return saved;
}

void report_signals_restore(uint64_t saved) {
  sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&saved, 0, sizeof saved);
}

// ---- figures

static void kind_fill(struct ht_file_kind *kind, enum ht_kind index) {
  struct kind_count total = count_kind_total(index);
  int64_t live_bytes = count_live((int)index);
  *kind = (struct ht_file_kind){
      .live_bytes = live_bytes > 0 ? (uint64_t)live_bytes : 0,
      .live_blocks = total.allocations - total.frees,
      .peak_bytes = (uint64_t)gauge_table[index].peak_bytes,
      .allocations = total.allocations,
      .frees = total.frees,
      .temporaries = total.temporaries,
      .allocated_bytes = total.allocated_bytes,
  };
}

// Pages that madvise gave back are live for the counters, but not for the report.
static void lazy_subtract(struct report *report) {
  const struct report_tables *tables = &report->tables;
  if (!tables->lazy_bytes) return;
  for (uint32_t id = site_inherited; id < tables->site_end; id++) {
    uint64_t *live_bytes = &report->process.kinds[site_table[id].kind].live_bytes;
    uint64_t missing = tables->lazy_bytes[id];
    *live_bytes -= missing < *live_bytes ? missing : *live_bytes;
  }
}

static uint32_t flags_now(const struct report *report, int pid) {
  uint32_t flags = __atomic_load_n(&process_flags, __ATOMIC_RELAXED);
  if (session->main_pid == (uint64_t)pid) flags |= HT_PROCESS_MAIN;
  if (session->sample) flags |= HT_PROCESS_ESTIMATED;
  if (report->order->scan && report->scan.complete) flags |= HT_PROCESS_SCANNED;
  if (report->order->periodic) flags |= HT_PROCESS_PERIODIC;
  return flags;
}

static void command_line_fill(struct report *report) {
  const struct process_info *info = process_info();
  report->process.exe = tables_string(&report->tables, info->exe);
  report->process.argc = info->argc;
  report->process.argv = (uint32_t)buffer_append(&report->tables.strings, info->argv, info->argv_bytes);
  report->process.label = report->order->label ? tables_string(&report->tables, report->order->label) : 0;
  report->process.rank = info->rank;
}

// What the sites held at the peak, which with one thread is the gauge's own figure. With several a thread may have
// been between its site's counter and its share just then; both orders of such calls are true, and this one adds up.
static uint64_t peak_of_sites(const struct report *report) {
  uint64_t bytes = 0;
  struct site_figures figures;
  for (uint32_t id = 1; id < report->tables.site_end; id++) {
    tables_figures(&report->tables, (site_id){id}, &figures);
    bytes += figures.peak_bytes;
  }
  return bytes;
}

static bool is_checkpoint(const struct report *report) { return report->order->reason == HT_REASON_KILLED; }

static void figures_fill(struct report *report) {
  struct ht_file_process *process = &report->process;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) kind_fill(&process->kinds[kind], (enum ht_kind)kind);
  lazy_subtract(report);
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) process->live_bytes += process->kinds[kind].live_bytes;
  process->duration_ns = sampler_elapsed_ns();
  process->peak_bytes = count_many_threads() ? peak_of_sites(report) : (uint64_t)gauge_table[GAUGE_ALL].peak_bytes;
  process->peak_ns = sampler_ns_at(count_peak_ns);
  if (process->peak_ns > process->duration_ns) process->peak_ns = process->duration_ns;
  process->peak_rss_bytes = process_peak_rss_bytes();
  if (!is_checkpoint(report)) process->own_bytes = process_own_bytes(); // looks at every page
  process->python_arena_free_bytes = python_arena_free_bytes;
  process->unseen_calls = thread_unseen_calls;
}

static void process_fill(struct report *report) {
  struct ht_file_process *process = &report->process;
  int pid = sys_pid();
  process->pid = (uint32_t)pid;
  process->ppid = (uint32_t)sys_parent_pid();
  process->image = session_image(session, pid);
  process->flags = flags_now(report, pid);
  process->reason = report->order->reason;
  process->signal = (uint32_t)report->order->signal;
  process->depth = (uint32_t)session->depth;
  process->started_unix_ns = sampler_started_unix_ns();
  process->sample_bytes = session->sample;
  command_line_fill(report);
}

// ---- the check

// The sites' sums must be the totals, byte for byte.
static void sums_check(struct report *report) {
  struct site_figures figures;
  struct ht_file_kind sums[HT_KIND_COUNT] = {0};
  for (uint32_t id = 1; id < report->tables.site_end; id++) {
    tables_figures(&report->tables, (site_id){id}, &figures);
    struct ht_file_kind *sum = &sums[site_table[id].kind];
    sum->live_bytes += figures.live_bytes;
    sum->live_blocks += figures.live_blocks;
    sum->allocations += figures.allocations;
    sum->allocated_bytes += figures.allocated_bytes;
  }
  for (int i = 0; i < HT_KIND_COUNT; i++) {
    const struct ht_file_kind *kind = &report->process.kinds[i];
    if (sums[i].live_bytes == kind->live_bytes && sums[i].live_blocks == kind->live_blocks &&
        sums[i].allocations == kind->allocations && sums[i].allocated_bytes == kind->allocated_bytes)
      continue;
    notes_add(&report->notes, &report->tables, "check failed: the sites' figures do not add up to the totals");
  }
}

static void count_add(struct text *text, const char *word, uint64_t count) {
  text_add_decimal(text, count);
  text_add(text, word);
}

// How the stacks compared with libunwind's.
static void stacks_note(struct report *report) {
  const struct stack_check_counts *counts = &stack_check_counts;
  char sentence[256];
  struct text text;
  if (!stack_check_on) return notes_add(&report->notes, &report->tables, "stack check: no libunwind.so.8 was found");
  text_start(&text, sentence, sizeof sentence);
  text_add(&text, "stack check: ");
  count_add(&text, " stacks, ", counts->stacks);
  count_add(&text, " equal, ", counts->equal);
  count_add(&text, " longer, ", counts->longer);
  count_add(&text, " shorter, ", counts->shorter);
  count_add(&text, " different; ", counts->different);
  count_add(&text, " by a known path", counts->by_path);
  notes_add(&report->notes, &report->tables, sentence);
}

// ---- sections

static void process_write(struct report *report, struct writer *writer) {
  writer_section(writer, HT_SECTION_PROCESS);
  writer_add(writer, &report->process, sizeof report->process);
  writer_section_end(writer);
}

// GPU memory that was not given back when the process ends by itself is lost, whatever still points to it. What a
// framework's pool has left is not: the pool keeps it.
static bool process_ends(const struct report *report) {
  enum ht_reason reason = report->order->reason;
  return reason == HT_REASON_EXIT || reason == HT_REASON__EXIT || reason == HT_REASON_EXEC;
}

static bool is_device_kind(enum ht_kind kind) {
  return kind == HT_KIND_DEVICE || kind == HT_KIND_PINNED || kind == HT_KIND_MANAGED;
}

static void device_leaks_write(struct report *report, struct writer *writer) {
  struct site_figures figures;
  for (uint32_t id = 1; id < report->tables.site_end; id++) {
    if (!is_device_kind((enum ht_kind)site_table[id].kind) || (site_table[id].flags & HT_SITE_POOL)) continue;
    tables_figures(&report->tables, (site_id){id}, &figures);
    struct ht_file_leak row = {.site = tables_site(&report->tables, (site_id){id})};
    row.direct_bytes = figures.live_bytes;
    row.direct_blocks = figures.live_blocks;
    if (row.site && row.direct_blocks) writer_add(writer, &row, sizeof row);
  }
}

static void leaks_write(struct report *report, struct writer *writer) {
  writer_section(writer, HT_SECTION_LEAKS);
  for (uint32_t i = 0; i < report->scan.leak_count; i++) {
    const struct scan_leak *leak = &report->scan.leaks[i];
    struct ht_file_leak row = {
        .site = tables_site(&report->tables, leak->site),
        .direct_bytes = leak->direct_bytes,
        .direct_blocks = leak->direct_blocks,
        .indirect_bytes = leak->indirect_bytes,
        .indirect_blocks = leak->indirect_blocks,
    };
    if (row.site) writer_add(writer, &row, sizeof row);
  }
  if (process_ends(report)) device_leaks_write(report, writer);
  writer_section_end(writer);
}

static void sizes_write(struct writer *writer) {
  writer_section(writer, HT_SECTION_SIZES);
  struct size_count sizes[SIZE_CLASSES];
  count_size_totals(sizes);
  for (int class = 0; class < SIZE_CLASSES; class ++) {
    struct ht_file_size row = {8ull << class, sizes[class].allocations, sizes[class].bytes};
    if (row.allocations) writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

static void front_sections_begin(struct report *report) {
  if (front_sections) report->front_section_count = front_sections->begin(&report->tables, is_checkpoint(report));
}

// Strings come last: the other sections add to them.
static void sections_write(struct report *report, struct writer *writer) {
  process_write(report, writer);
  tables_write_modules(&report->tables, writer);
  tables_write_frames(&report->tables, writer);
  tables_write_nodes(&report->tables, writer);
  tables_write_sites(&report->tables, writer);
  owners_write(&report->owners, &report->tables, &report->threads, writer);
  leaks_write(report, writer);
  sizes_write(writer);
  timeline_write(&report->process, writer);
  timeline_calls_write(&report->process, writer);
  site_timeline_write(&report->tables, writer);
  marks_write(&report->tables, writer);
  threads_write(&report->threads, writer);
  holders_write(&report->holders, &report->tables, &report->threads, writer);
  notes_write(&report->notes, writer);
  types_write(&report->tables, writer);
  pinned_write(&report->tables, writer);
  shared_pages_write(&report->tables, writer);
  if (report->front_section_count)
    front_sections->write(&report->tables, writer, report->process.duration_ns, is_checkpoint(report));
  tables_write_strings(&report->tables, writer);
}

static uint32_t section_count(const struct report *report) {
  return SECTION_COUNT + owners_section_count() + report->front_section_count;
}

// ---- the whole

// A labelled snapshot goes into a folder of its own.
static void directory_make(const char *label, char *path, size_t capacity) {
  struct text text;
  text_start(&text, path, capacity);
  text_add(&text, session->out);
  if (!label) return;
  text_add(&text, "/");
  text_add(&text, label);
  sys_call4(SYS_mkdirat, AT_FDCWD, (long)path, 0777, 0);
}

static char last_path[WRITER_PATH_BYTES]; // of the last report written

static bool file_write_all(struct report *report) {
  char *directory = sys_map(WRITER_PATH_BYTES);
  if (!directory) return false;
  directory_make(report->order->label, directory, WRITER_PATH_BYTES);
  struct writer *writer =
      writer_open(directory, (int)report->process.pid, report->process.image, section_count(report));
  if (writer) {
    memcpy(last_path, writer->path, sizeof last_path);
    sections_write(report, writer);
  }
  bool written = writer && writer_close(writer) == 0;
  sys_unmap(directory, WRITER_PATH_BYTES);
  return written;
}

// The other threads are parked from here on, so that counters, leaks and tables belong to one moment.
static bool report_collect(struct report *report) {
  count_settle();
  if (!tables_begin(&report->tables)) return false;
  figures_fill(report);
  uint64_t live_bytes[HT_KIND_COUNT];
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) live_bytes[kind] = report->process.kinds[kind].live_bytes;
  sampler_finish(live_bytes);
  if (report->order->scan) {
    scan_run(&report->order->origin, &report->scan);
    holders_find(&report->holders, &report->tables);
  } else {
    notes_add(&report->notes, &report->tables, "leaks were not looked for: the process could not be copied");
  }
  pinned_want(&report->tables);
  shared_pages_find(&report->tables);
  front_sections_begin(report);
  tables_number(&report->tables);
  jit_names_find(&report->tables);
  process_fill(report);
  threads_collect(&report->threads, &report->tables);
  notes_collect(&report->notes, &report->tables, &report->scan, report->process.unseen_calls);
  marks_note(&report->notes, &report->tables);
  if (session->check_stacks) sums_check(report), stacks_note(report);
  return true;
}

static bool report_put_together(struct report *report) {
  bool written = report_collect(report) && file_write_all(report);
  scan_result_drop(&report->scan);
  notes_drop(&report->notes);
  tables_drop(&report->tables);
  return written;
}

static void sleep_ms(long milliseconds) {
  struct timespec time = {0, milliseconds * 1000000};
  sys_call3(SYS_nanosleep, (long)&time, 0, 0);
}

// Waits by looking again: a thread that waits for a lock is not parked, and the other's report would wait for it.
static bool turn_take(uint64_t until_ns) {
  while (!lock_try(&one_report)) {
    bool own = __atomic_load_n(&writing_tid, __ATOMIC_RELAXED) == sys_tid();
    if (own || sys_now_ns() >= until_ns) return false;
    sleep_ms(1);
  }
  __atomic_store_n(&writing_tid, sys_tid(), __ATOMIC_RELAXED);
  return true;
}

static void turn_give(void) {
  __atomic_store_n(&writing_tid, 0, __ATOMIC_RELAXED);
  lock_drop(&one_report);
}

void report_wait(void) {
  if (turn_take(UINT64_MAX)) turn_give();
}

static bool report_write_now(const struct report_order *order) {
  struct report *report = sys_map(sizeof *report);
  if (!report) return false;
  report->order = order;
  uint64_t saved_signals = report_signals_block();
  ht_report_hooks_run();
  module_refresh(); // takes the loader's lock, which a parked thread might hold
  shared_pages_look();
  stop_begin();
  bool written = report_put_together(report);
  stop_end();
  shared_pages_drop();
  report_signals_restore(saved_signals);
  sys_unmap(report, sizeof *report);
  return written;
}

// ---- by a copy

static _Noreturn void copy_work(const struct report_order *order, const struct process_memory *memory) {
  process_memory_set(memory);
  struct report *report = sys_map(sizeof *report);
  bool written = false;
  if (report) {
    report->order = order;
    ht_report_hooks_run();
    written = report_put_together(report);
  }
  if (order->after) order->after(written);
  copy_end(written);
}

static int copy_begin(const struct report_order *order) {
  struct process_memory memory = process_memory_now();
  int copy = copy_start();
  if (copy == 0) copy_work(order, &memory);
  return copy;
}

// With the turn taken. The loader's lock, which module_refresh takes, may be held by whoever crashed.
static int report_copy_now(const struct report_order *order) {
  bool crashed = order->reason == HT_REASON_CRASH, inside = lock_depth > 1; // the turn is one
  uint64_t saved_signals = report_signals_block();
  if (!crashed) module_refresh();
  if (!inside) shared_pages_look();
  if (!inside) stop_begin();
  int copy = copy_begin(order);
  if (!inside) stop_end();
  report_signals_restore(saved_signals);
  shared_pages_drop();
  if (order->copy && copy > 0) *order->copy = copy;
  return copy;
}

#define COPY_REPORT_NS 600000000000ull // a report by a copy that takes longer is lost

// All descriptors that the program may have are in use: it leaks them, or has set itself a small limit.
static bool descriptors_are_out(void) {
  int fd = sys_open("/", O_PATH | O_CLOEXEC, 0);
  if (fd >= 0) sys_close(fd);
  return fd == -EMFILE;
}

// A copy has a table of descriptors of its own and closes those of the program. With the turn taken. False: there is no
// need, or nothing came of it.
static bool report_written_by_copy(const struct report_order *order) {
  if (order->reason == HT_REASON_EXEC || !descriptors_are_out()) return false; // report_withdraw needs the name here
  int copy = report_copy_now(order);
  return copy > 0 && copy_wait(copy, sys_now_ns() + COPY_REPORT_NS) == COPY_WRITTEN;
}

// ---- here

static bool is_wanted(const struct report_order *order) { return !order->before || order->before(); }

bool report_write(const struct report_order *order) {
  if (!turn_take(UINT64_MAX)) return false;
  bool written = is_wanted(order) && (report_written_by_copy(order) || report_write_now(order));
  turn_give();
  return written;
}

// ---- checkpoints

// While totals rise no peak has been committed yet: what is live now is the most there ever was.
static void peaks_raise(struct ht_file_process *process) {
  for (int kind = 0; kind < HT_KIND_COUNT; kind++)
    if (process->kinds[kind].live_bytes > process->kinds[kind].peak_bytes)
      process->kinds[kind].peak_bytes = process->kinds[kind].live_bytes;
  if (process->live_bytes <= process->peak_bytes) return;
  process->peak_bytes = process->live_bytes;
  process->peak_ns = sampler_ns_at(count_rise_ns());
}

static bool checkpoint_write(struct report *report, int slot) {
  int pid = sys_pid();
  if (!tables_begin_now(&report->tables)) return false;
  figures_fill(report);
  peaks_raise(&report->process);
  front_sections_begin(report);
  tables_number(&report->tables);
  process_fill(report);
  threads_collect_now(&report->threads, &report->tables);
  notes_add(&report->notes, &report->tables, "leaks were not looked for: these are the figures of the last checkpoint");
  notes_collect(&report->notes, &report->tables, &report->scan, report->process.unseen_calls);
  marks_note(&report->notes, &report->tables);
  struct writer *writer =
      writer_open_checkpoint(session->out, pid, session_image(session, pid), section_count(report), slot);
  if (writer) sections_write(report, writer);
  return writer && writer_close(writer) == 0;
}

bool report_checkpoint(int slot) {
  static const struct report_order order = {.reason = HT_REASON_KILLED};
  struct report *report = sys_map(sizeof *report);
  if (!report) return false;
  report->order = &order;
  uint64_t saved_signals = report_signals_block(); // a file that gets too long raises one
  bool written = checkpoint_write(report, slot);
  report_signals_restore(saved_signals);
  notes_drop(&report->notes);
  tables_drop(&report->tables);
  sys_unmap(report, sizeof *report);
  return written;
}

int report_copy(const struct report_order *order, uint64_t until_ns) {
  if (!turn_take(until_ns)) return -EBUSY;
  int copy = is_wanted(order) ? report_copy_now(order) : -EBUSY;
  turn_give();
  return copy;
}

void report_withdraw(void) { sys_call3(SYS_unlinkat, AT_FDCWD, (long)last_path, 0); }
