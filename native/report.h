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
  bool scan;         // false: no leak scan (a crash)
  struct scan_origin origin;
};

// Before the first hook. `session` must stay.
void report_init(const struct session *session);

// HT_PROCESS_FORKED, _PYTHON, _ATTACHED as they become true.
void report_flags_add(uint32_t flags);
// A sentence of a front end's for the notes of every report from now on; `sentence` stays. At most 8 are kept.
void report_note_add(const char *sentence);
// For the row `python arenas, free`.
void report_python_arenas_set(uint64_t free_bytes);

// Writes the report of this process as it is now. The caller is not inside a hook and holds no lock; its thread's
// hooks pass calls through. All signals but those of faults wait until it is done. The other threads are parked
// meanwhile. False: another report is being written by this thread, or the file could not be (writer.h says what
// is left behind then). errno stays.
bool report_write(const struct report_order *order);

// Waits until a report that another thread is writing is done: before this thread ends the process.
void report_wait(void);

// Removes the file that the last report_write made (an exec that failed after all).
void report_withdraw(void);

// In the fork child: a report that another thread was writing is the parent's.
void report_fork_child(void);

#endif
