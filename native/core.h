// The door: the only way for hooks into the recorder.
//
// Order: an allocation is recorded after the real call returned (nobody can free it before), a free removes the
// record before the real call (the address may be handed out again right after it). realloc takes the old record
// out first and puts it back when the real call failed.
#ifndef HT_CORE_H
#define HT_CORE_H

#include "sampler.h"
#include "thread.h"
#include "words.h"

// In the hook function itself (everything is compiled with frame pointers): [rbp] is the caller's rbp, [rbp + 8] the
// slot of the return address.
#define HOOK_FRAME()                                                                                                   \
  ((struct hook_frame){(uintptr_t)__builtin_frame_address(0) + 8, *(uintptr_t *)__builtin_frame_address(0)})

void ht_alloc(struct thread *thread, void *block, size_t size_bytes, struct hook_frame frame);
void ht_free(struct thread *thread, void *block);
// A block of an allocator that the program has beside its malloc: 32 bytes from the next, at a multiple of 16.
void ht_alloc_foreign(struct thread *thread, void *block, size_t size_bytes, struct hook_frame frame);

// realloc in two halves around the real call. `begin` returns false when `old` is not known.
bool ht_move_begin(struct thread *thread, void *old, struct block *taken);
void ht_move_end(struct thread *thread, const struct block *taken, void *block, size_t size_bytes,
                 struct hook_frame frame);
void ht_move_failed(struct thread *thread, const struct block *taken);

// Blocks of other kinds that live in the same live map (Python's big objects), at a site that the caller made. They are
// malloc's own, which then was the last to be called, or lie inside one of its blocks (behind the header of Python's
// debug allocator) or elsewhere (mimalloc).
void ht_alloc_at(struct thread *thread, void *block, size_t size_bytes, site_id site);
// Counts a block as freed that the caller has taken out of the live map.
void ht_freed(struct thread *thread, const struct block *taken);

// Memory that the live map does not hold, since its addresses are not the allocator's (GPU blocks): the caller keeps
// the blocks in a table of its own and counts them with count.h. The site of the hook that was entered at `frame`;
// inside a hook.
site_id ht_site(struct thread *thread, struct hook_frame frame, enum ht_kind kind);
// The same with all lines of another language, whatever is kept of them else: for what comes seldom.
site_id ht_site_all_lines(struct thread *thread, struct hook_frame frame, enum ht_kind kind);
// `block` turns out to be counted elsewhere: when it is a heap block it counts as freed, and its own free will be none.
void ht_disown(struct thread *thread, void *block);

// Ranges. `protection` as mmap's; the range's length is rounded up to pages.
void ht_map(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, uint8_t range_flags,
            struct hook_frame frame);
void ht_unmap(struct thread *thread, uintptr_t start, size_t size_bytes);
void ht_protect(struct thread *thread, uintptr_t start, size_t size_bytes, int protection, struct hook_frame frame);
void ht_remap(struct thread *thread, uintptr_t old_start, size_t old_bytes, uintptr_t start, size_t size_bytes,
              struct hook_frame frame);
void ht_discard(struct thread *thread, uintptr_t start, size_t size_bytes);

// Lines of another language (Python) in native stacks: when set, asked once for each recorded native allocation;
// returns the running frames of that language as a node (stack_table.h), 0 for none. Runs inside the hook: no
// allocation, no lock of the program's. `all`: every one of them, whatever is kept else. `front` says where in the
// stack they belong.
typedef uint32_t (*ht_line_source)(bool all);
struct merge_front;
void ht_set_line_source(ht_line_source source, const struct merge_front *front);

// What leads allocations off their short way has changed: a source of lines, the check of stacks, sampling.
void ht_detours_look(void);

// Inside a hook of one's own (pyhooks): nothing of what signal handlers do meanwhile is lost.
HT_INLINE void ht_hook_begin(struct thread *thread) {
  thread->in_hook = (uintptr_t)__builtin_frame_address(0);
  __asm__ volatile("" ::: "memory");
}
// From a signal handler inside a hook: `function(argument)` once the hook is over. False: too much waits already.
bool ht_call_after_hook(struct thread *thread, void (*function)(int), int argument);
void ht_deferred_run(struct thread *thread);
HT_INLINE void ht_hook_end(struct thread *thread) {
  __asm__ volatile("" ::: "memory");
  thread->in_hook = 0;
  if (unlikely(thread->deferred_used)) ht_deferred_run(thread);
}
// A call that ended in a new block (`block`, 0: none): temporaries and the sampler's budget.
HT_INLINE void ht_called(struct thread *thread, uintptr_t block, size_t size_bytes) {
  thread->last_block = block;
  thread->sample_budget -= (int64_t)(size_bytes + SAMPLE_CALL_BYTES);
  if (unlikely(thread->sample_budget < 0)) sampler_tick(thread);
}

// A second source of blocks for the leak scan (Python's small objects). World parked.
enum block_point {
  BLOCK_ELSEWHERE, // the address is in no memory that holds small blocks of this source
  BLOCK_NOTHING,   // no block is there, or it makes no difference
  BLOCK_REACHED,   // a block that has its first mark now
};
struct block_source {
  // What a pointer to `address` means: nearly all lead to blocks that have the mark, so that is looked at first. Sets
  // `block` for BLOCK_REACHED. `which` 1 (indirect): blocks that are reached, or start at `self`, are left alone.
  enum block_point (*point)(uintptr_t address, int which, uintptr_t self, struct block *block);
  // The block holding `address`; false: none of this source's.
  bool (*find)(uintptr_t address, struct block *block);
  // Each live block, until `visit` returns false.
  void (*each)(bool (*visit)(const struct block *block, void *context), void *context);
  // Set / read the two marks of the block that starts at `start` (as live_mark).
  bool (*mark)(uintptr_t start, int which);
  bool (*marked)(uintptr_t start, int which);
  bool (*scan_begin)(void);
  void (*scan_end)(void);
  // Leading bytes of the block that hold no references, whole words. Asked for blocks of the live map whose kind is
  // python too.
  size_t (*skip_bytes)(const struct block *block);
};
void ht_add_block_source(const struct block_source *source);
const struct block_source *ht_block_source(void);

// Where memory that the live map does not hold was allocated, by the front end that keeps it. Site 0: not known. Takes
// LOCK_RANK_FRONT; the caller is not inside a hook.
typedef site_id (*ht_site_lookup)(uintptr_t address);
void ht_set_site_lookup(ht_site_lookup lookup);
site_id ht_site_of(uintptr_t address);

// What `heaptide run` asked for; NULL: not traced.
struct session;
const struct session *ht_session(void);
void ht_session_set(const struct session *session);

// Called right before a report is put together (counters settled afterwards), e.g. to fold front ends' own counters
// into sites.
void ht_add_report_hook(void (*hook)(void));
void ht_report_hooks_run(void);
// When the process is attached to, after ht_session_set and before anything is recorded. Kept over a detach: added
// once, by a constructor.
void ht_add_attach_hook(void (*hook)(void));
void ht_attach_hooks_run(void);
// In the fork child, e.g. to disown what front ends counted.
void ht_add_fork_hook(void (*hook)(void));
void ht_fork_hooks_run(void);
// After a dlclose that succeeded: libraries may be gone.
void ht_add_close_hook(void (*hook)(void));
void ht_close_hooks_run(void);

#endif
