// The door: the only way for hooks into the recorder.
//
// Order: an allocation is recorded after the real call returned (nobody can free it before), a free removes the
// record before the real call (the address may be handed out again right after it). realloc takes the old record
// out first and puts it back when the real call failed.
#ifndef HT_CORE_H
#define HT_CORE_H

#include "thread.h"
#include "words.h"

// Where a hook was entered: the slot that holds its return address, and the caller's frame pointer.
struct hook_frame {
  uintptr_t slot;
  uintptr_t rbp;
};
// In the hook function itself (compiled with frame pointers): [rbp] is the caller's rbp, [rbp + 8] the slot.
#define HOOK_FRAME()                                                                                                   \
  ((struct hook_frame){(uintptr_t)__builtin_frame_address(0) + 8, *(uintptr_t *)__builtin_frame_address(0)})

void ht_alloc(struct thread *thread, void *block, size_t size_bytes, struct hook_frame frame);
void ht_free(struct thread *thread, void *block);
// realloc in two halves.
bool ht_move_begin(struct thread *thread, void *old, struct block *taken);
void ht_move_end(struct thread *thread, const struct block *taken, void *block, size_t size_bytes,
                 struct hook_frame frame, bool succeeded);

// Blocks of other kinds that live in the same live map (Python's big objects): the site is made by the caller.
site_id ht_site(struct thread *thread, enum ht_kind kind, struct hook_frame frame);
void ht_alloc_at(struct thread *thread, void *block, size_t size_bytes, site_id site);

// Ranges.
void ht_map(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, struct hook_frame frame);
void ht_unmap(struct thread *thread, uintptr_t start, size_t size_bytes);

// Python lines for native sites: asked once for each native stack capture when set. Returns 0 for none.
typedef uint64_t (*ht_frame_source)(void);
void ht_set_frame_source(ht_frame_source source);

// A second source of blocks for the leak scan (Python's small objects). World parked.
struct block_source {
  // The block holding `address`; false: none of this source's.
  bool (*find)(uintptr_t address, struct block *block);
  // Each live block, until `visit` returns false.
  void (*each)(bool (*visit)(const struct block *block, void *context), void *context);
  // Set / read the two marks of the block that starts at `start` (as live_mark).
  bool (*mark)(uintptr_t start, int which);
  bool (*marked)(uintptr_t start, int which);
  bool (*scan_begin)(void);
  void (*scan_end)(void);
  // Leading bytes of the block that are links of a collector's list, not references.
  size_t (*skip_bytes)(const struct block *block);
};
void ht_add_block_source(const struct block_source *source);
const struct block_source *ht_block_source(void);

// Called right before a report is put together (counters settled afterwards), e.g. to fold front ends' own counters
// into sites.
void ht_add_report_hook(void (*hook)(void));
void ht_report_hooks_run(void);

#endif
