// What a report says: its sites merged by how they are shown, suppressions applied, growth judged. Prints nothing.
#ifndef HT_JUDGEMENT_H
#define HT_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "growth.h"
#include "model.h"
#include "row_curves.h"
#include "stacks.h"
#include "suppress.h"
#include "symbols.h"

// Objects of one type, and the buffers that are theirs.
struct row_type {
  const char *name;
  uint64_t blocks, bytes;
};

struct row_types {
  struct row_type *types; // the largest, falling
  size_t count;           // 0: not known
};

// Sites of one kind with the same shown stack, added up.
struct row {
  uint32_t kind;                  // enum ht_kind
  uint32_t stack;                 // node
  const struct shown_frame *site; // NULL: the stack is empty
  bool residue;                   // known library residue
  bool arena;                     // `python arenas, free`
  bool pool;                      // what is left of a framework's pool blocks
  int suppression;                // index, -1: none
  bool suppressed;
  uint32_t whole, owner; // of a thread's share: the row it is of, the report's owner (0: unknown)
  uint64_t allocations, frees, temporaries, allocated_bytes;
  uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks;
  uint64_t direct_bytes, direct_blocks, indirect_bytes, indirect_blocks; // leaked
  char **held_by; // from the block outwards to the root; held_count of them, 0: unknown
  size_t held_count;
  struct row_types types;      // of what is live and was reached
  struct row_types lost_types; // of what was found lost
};

// Indexes of rows, sorted by what the list is about, largest first.
struct row_list {
  uint32_t *rows;
  size_t count;
};

// Free bytes in pools that few blocks of a stack hold.
struct pinned_row {
  uint32_t stack; // node
  uint64_t blocks, bytes;
};

// A line of the python list. Where a site's blocks are partly leaked it is two: the leaked ones and the others.
struct python_row {
  uint32_t row;
  bool leaked;
  uint64_t live_bytes, live_blocks, allocations;
  bool peak_known; // the peak cannot be split
  uint64_t peak_bytes;
};

struct growth_row {
  uint32_t row;
  double bytes_per_s;
};

struct growing {
  struct growth_row *items; // steepest first
  size_t count;
};

// --per-thread: each row once for each thread that has a share in it. Those of row `i` are [first[i], first[i + 1]);
// held_by and types are of the whole row only.
struct row_shares {
  struct row *rows;
  size_t count; // 0: not recorded
  size_t *first;
  struct row_curves curves; // .row: index of a share
  struct growing growing;
  struct python_row *python; // .row: index of a share
  size_t python_count;
};

struct worker_group;

struct judgement {
  const struct report *report;
  const struct stacks *stacks;
  struct row *rows;
  size_t row_count;
  struct row_list leaks, peak, hotspots, temporaries; // Python's sites are in `python` only
  struct row_list gpu;
  struct python_row *python;
  struct pinned_row *pinned; // those that pin most first
  size_t pinned_count;
  size_t python_count, python_leaked_count;                                         // the leaked rows come first
  uint64_t leaked_direct_bytes, leaked_indirect_bytes, leaked_blocks, leaked_sites; // suppressed ones left out
  uint64_t suppressed_bytes, suppressed_sites;
  uint64_t python_leaked_bytes, python_leaked_blocks;
  uint64_t allocations, frees, temporaries_total;
  struct growth cpu, device;
  struct growing growing;
  struct curve_points *points, *gpu_points; // of the sites' timeline, and of device memory's where that has its own
  struct row_curves curves;
  struct row_shares shares;
  uint64_t counted_bytes; // of the resident figures, its part of a sum in which shared pages count once (fork_family.h)
  const struct worker_group *workers; // those that do the same work, itself among them (workers.h); NULL: alone
  char *advice;                       // one of the notes; NULL: none
  const char **notes;                 // what this report could not see or name, a sentence each
  size_t note_count;
  bool helper; // a process that a runtime started for itself: quiet, and nothing in it is a finding
  bool quiet;
};

struct judgement_rules {
  struct suppressions *suppressions; // what they matched is added up in them
  bool builtin_suppressions;         // known library residue counts as suppressed
  struct growth_limit growth_limit;
};

// `report`, `stacks`, `symbols` have to stay until judgement_free. `symbol_modules`: by the report's module. `helper`:
// as in the judgement.
struct judgement judgement_make(const struct report *report, const struct stacks *stacks, struct symbols *symbols,
                                const uint32_t *symbol_modules, const struct judgement_rules *rules, bool helper);
void judgement_free(struct judgement *judgement);

// Whether row `index` of the python list is among the `top` leaked ones or the `top` others.
bool judgement_python_shown(const struct judgement *judgement, size_t index, uint64_t top);

// Of a line of the python list what share `share` of its row has.
struct python_row judgement_python_share(const struct judgement *judgement, const struct python_row *of, size_t share);

bool judgement_has_leaks(const struct judgement *judgement);
// False: no leak is in the report because nobody looked for any.
bool judgement_leaks_known(const struct judgement *judgement);
bool judgement_has_growth(const struct judgement *judgement);

#endif
