// Pieces of a framework's pool: a caching allocator takes large blocks from HIP and hands out parts of them. A piece is
// a block of its own at its own site, and its bytes are taken from its pool block's site: no byte counts twice.
//
//   pool block   |####piece####|......|##piece##|.........|     its site holds the dots only
//
// All under thread_front_lock(), inside a hook of `thread`.
#ifndef HT_PIECES_H
#define HT_PIECES_H

#include "block_table.h"

struct thread;

// A piece was handed out at `site`. False: it lies in no known block and has to be counted as one itself.
bool piece_add_locked(struct thread *thread, uintptr_t start, uint64_t size_bytes, site_id site, uint8_t device);
// False: not known as a piece.
bool piece_remove_locked(struct thread *thread, uintptr_t start, bool temporary);

// A block or mapping came that may become a pool's; it ends, with all pieces in it.
void pieces_container_add_locked(const struct gpu_block *block);
void pieces_container_end_locked(const struct gpu_block *block);
void pieces_end_locked(struct thread *thread, const struct gpu_block *block);
void pieces_all_end_locked(struct thread *thread, uint8_t device);
// A block went whose pieces have gone before it.
void pieces_block_gone_locked(const struct gpu_block *block);

// The largest unused part of a pool's block on `device`.
uint64_t pieces_largest_gap_locked(uint8_t device);

void pieces_forget(void);

#endif
