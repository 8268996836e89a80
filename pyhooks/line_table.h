// Lines of Python code that allocated: file, function and line number, copied when the line is first seen, and the
// site that counts it.
#ifndef HT_LINE_TABLE_H
#define HT_LINE_TABLE_H

#include "../native/site.h"
#include "running_frame.h"

// Index into the table. 0: none (no memory for one).
typedef struct {
  uint32_t value;
} line_id;

struct line {
  uintptr_t code;  // the code object; LINE_OF_OTHER set: none that is kept alive; 0: no code was running
  uint32_t number; // 0: unknown
  uint32_t frame;  // of the stack table, HT_FRAME_PYTHON
  uint32_t node;   // of the stack table: that frame, and of a chain those further out
  site_id site;    // kind python
};
#define LINE_OF_OTHER 1ul         // of a subinterpreter, or
#define LINE_OF_CHAIN (1ul << 63) // with this, a chain

extern struct line *line_table;
extern uint32_t line_count; // [1, line_count)

// The line that `frame` is at. The caller holds the GIL.
line_id line_of(struct running_frame frame);
// The same for a subinterpreter's code: that goes when the interpreter does, so nothing is remembered by its address.
line_id line_of_other(struct running_frame frame);

// The chain of lines [0, count), the innermost first, as a line of its own; with --per-thread of the calling thread,
// which of a single line makes another. The caller holds the GIL.
line_id line_of_chain(const line_id *lines, uint32_t count);

// What the import system does for the import at `importing`, whichever of its own lines it is at. The caller holds the
// GIL.
line_id line_of_import(line_id importing);

// The lines (a node of the stack table) that the calling thread is at; 0: no Python code. For a thread that has let go
// of the GIL inside a call from Python: its frames and code stand still meanwhile, and this table is not touched.
uint32_t line_node_without_gil(void *thread_state);

// The same of all lines from `frame` on, whatever --py-depth is; CHAIN_MAX at most.
uint32_t line_node_whole(const char *frame);

// Gives back the code objects that the table keeps alive, so that no other can take the address of one that is known.
// The lines stay for who has their ids; what is looked up later makes new ones. The caller holds the GIL, is not in a
// hook, and its frees are recorded: code objects that nobody else wants go here.
void line_table_release(void);

// The program begins: what it allocates on a line that the interpreter's start-up ran as well is a line of its own, and
// only the start-up's sites have SITE_OF_START.
void line_program_begin(void);
// An interpreter starts after another one ended.
void line_begin_again(void);

// In the fork child: forgets all, since the sites were the parent's.
void line_fork_child(void);

#endif
