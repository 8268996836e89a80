// Puts a report together: settles the counters, scans for leaks, hands the tables to the writer.
#ifndef HT_REPORT_H
#define HT_REPORT_H

#include "scan.h"
#include "session.h"
#include "words.h"

struct report_order {
  enum ht_reason reason;
  int signal;        // its number, 0: none
  const char *label; // of a snapshot, which goes into a folder of that name; NULL: none
  bool scan;         // false: no leak scan
  bool periodic;     // a snapshot that nobody asked for: --snapshot-every
  struct scan_origin origin;
  bool (*before)(void);        // when its turn has come, NULL: nothing; false: nothing is to be written after all
  int *copy;                   // report_copy: set to the copy's pid before the next report's turn comes; NULL: not
  void (*after)(bool written); // report_copy: called in the copy once the file is there, or is not; NULL: nothing
};

// Before the first hook. `session` must stay.
void report_init(const struct session *session);

// HT_PROCESS_FORKED, _PYTHON, _ATTACHED as they become true.
void report_flags_add(uint32_t flags);
// A sentence of a front end's for the notes of every report from now on; `sentence` stays, and stands
// there once however often it is added. At most 8 are kept.
void report_note_add(const char *sentence);
// In the fork child, of one that was true of the parent alone.
void report_note_forget(const char *sentence);
// For the row `python arenas, free`.
void report_python_arenas_set(uint64_t free_bytes);

// Sections of a front end. `begin`, before sites are numbered, says how many sections there are this time and wants the
// sites that they name (tables_want); `write` writes them, of a recording that ends at `end_ns`. The threads are
// parked, or `running`: a checkpoint, under the sampler's lock alone.
struct report_tables;
struct writer;
struct report_sections {
  uint32_t (*begin)(struct report_tables *tables, bool running);
  void (*write)(struct report_tables *tables, struct writer *writer, uint64_t end_ns, bool running);
};
void report_sections_set(const struct report_sections *sections);

// Writes the report of this process as it is now. The caller is not inside a hook and holds no lock; its thread's
// hooks pass calls through. All signals but those of faults wait until it is done. The other threads are parked
// meanwhile. False: another report is being written by this thread, or the file could not be (writer.h says what
// is left behind then). errno stays.
bool report_write(const struct report_order *order);

// Has the report written by a copy of the process (copy.h), which is forked while the other threads are parked; the
// process goes on. Returns the copy's pid, or -errno: there is no copy. Of a thread that crashed inside heaptide the
// others are not parked. As report_write otherwise; waits for a report that another thread is writing until `until_ns`
// (sys_now_ns) at most.
int report_copy(const struct report_order *order, uint64_t until_ns);

// Writes a checkpoint, a report of what the counters say now (reason: killed), into slot 0 or 1 (writer.h) while
// threads run. In a hook, with the sampler's lock; allocates own memory only. True: it is there.
bool report_checkpoint(int slot);

// Blocks all signals but those that a fault raises, in the calling thread; returns what was blocked before.
uint64_t report_signals_block(void);
void report_signals_restore(uint64_t saved);

// Waits until a report that another thread is writing is done: before this thread ends the process.
void report_wait(void);

// Removes the file that the last report_write made (an exec that failed after all).
void report_withdraw(void);

// In the fork child: a report that another thread was writing is the parent's.
void report_fork_child(void);

#endif
