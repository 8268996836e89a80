// The report file, as written by the recorder and read by the command line.
// docs/file-format.md says the same in prose, well enough to write a second reader.
//
// A file is: struct ht_file_header, then `section_count` struct ht_file_section, then the sections' bytes.
// Everything is little-endian and naturally aligned. A section's stored bytes are one zstd frame
// (flags & HT_SECTION_ZSTD) or raw. `crc32` (zlib's polynomial) covers the stored bytes; the header's
// covers the header (with its own crc32 field as 0) and the section table.
// A reader skips section ids that it does not know; a larger `version` is refused ("written by a newer heaptide").
#ifndef HT_FILE_FORMAT_H
#define HT_FILE_FORMAT_H

#include <stdint.h>

#define HT_FILE_MAGIC "HEAPTIDE" // 8 bytes, no NUL
#define HT_FILE_VERSION 1u

// Index into by-kind arrays. Never renumber.
enum ht_kind {
  HT_KIND_HEAP = 0,
  HT_KIND_MMAP = 1,
  HT_KIND_PYTHON = 2,
  HT_KIND_DEVICE = 3,
  HT_KIND_PINNED = 4,
  HT_KIND_MANAGED = 5,
  HT_KIND_COUNT = 6,
};
#define HT_KIND_NAMES                                                                                                  \
  { "heap", "mmap", "python", "device", "pinned", "managed" }

enum ht_reason {
  HT_REASON_EXIT = 0,
  HT_REASON__EXIT = 1, // _exit, _Exit, quick_exit
  HT_REASON_SIGNAL = 2,
  HT_REASON_CRASH = 3,
  HT_REASON_SNAPSHOT = 4,
  HT_REASON_DETACH = 5,
  HT_REASON_EXEC = 6,
  HT_REASON_KILLED = 7,
};
#define HT_REASON_NAMES                                                                                                \
  { "exit", "_exit", "signal", "crash", "snapshot", "detach", "exec", "killed" }

enum ht_section_id {
  HT_SECTION_PROCESS = 1,         // one struct ht_file_process
  HT_SECTION_STRINGS = 2,         // NUL-terminated byte strings; a ref is a byte offset; offset 0 is ""
  HT_SECTION_MODULES = 3,         // struct ht_file_module[]
  HT_SECTION_FRAMES = 4,          // struct ht_file_frame[]; index 0 unused
  HT_SECTION_NODES = 5,           // struct ht_file_node[]; index 0 is the root
  HT_SECTION_SITES = 6,           // struct ht_file_site[]; index 0 unused
  HT_SECTION_LEAKS = 7,           // struct ht_file_leak[]
  HT_SECTION_SIZES = 8,           // struct ht_file_size[]
  HT_SECTION_TIMELINE = 9,        // struct ht_file_sample[], oldest first
  HT_SECTION_SITE_TIMELINE = 10,  // see struct ht_file_site_timeline
  HT_SECTION_THREADS = 11,        // struct ht_file_thread[]
  HT_SECTION_HOLDERS = 12,        // struct ht_file_holder[]
  HT_SECTION_HOLDER_LINKS = 13,   // struct ht_file_holder_link[]
  HT_SECTION_NOTES = 14,          // uint32_t string ref[]: what this report could not see, in a sentence each
  HT_SECTION_MARK_NAMES = 15,     // struct ht_file_mark_name[], in the order in which they came first
  HT_SECTION_MARKS = 16,          // struct ht_file_mark[], in the order of their times
  HT_SECTION_TIMELINE_CALLS = 17, // struct ht_file_sample_calls[]: none, or one for each sample
  HT_SECTION_PYTHON_TYPES = 18,   // struct ht_file_type[]: of each site together, the largest first
  HT_SECTION_PYTHON_PINNED = 19,  // struct ht_file_pinned[]: all together first, then the sites that pin most
  // Only in reports of programs that used a GPU:
  HT_SECTION_GPU = 20,                 // one struct ht_file_gpu
  HT_SECTION_GPU_DEVICES = 21,         // struct ht_file_gpu_device[]
  HT_SECTION_GPU_STREAMS = 22,         // struct ht_file_gpu_stream[]
  HT_SECTION_GPU_TIMELINE = 23,        // see struct ht_file_gpu_timeline
  HT_SECTION_GPU_FAILURES = 24,        // struct ht_file_gpu_failure[], in the order of their times
  HT_SECTION_GPU_FAILURE_HOLDERS = 25, // struct ht_file_gpu_holder[]
  HT_SECTION_GPU_TENSORS = 26,         // struct ht_file_gpu_tensor[], largest first
  // Of any program:
  HT_SECTION_PYTHON_LOST_TYPES = 27, // struct ht_file_type[]: as PYTHON_TYPES, of what was found lost
  HT_SECTION_THREAD_STATES = 28,     // struct ht_file_thread_state[]: none, or one for each of THREADS
  HT_SECTION_RESIDENT = 29,          // one struct ht_file_resident: of a process that forks, or was forked
  HT_SECTION_SHARED_SITES = 30,      // struct ht_file_shared_site[], largest first
  // Only with --per-thread:
  HT_SECTION_OWNERS = 31,      // struct ht_file_owner[]: threads that sites belong to; index 0 unused
  HT_SECTION_SITE_OWNERS = 32, // uint32_t[], by site: index in OWNERS, 0: unknown
  // Only with --gpu-timeline sites, in reports of programs that used a GPU:
  HT_SECTION_GPU_SITE_TIMELINE = 33, // see struct ht_file_site_timeline; device memory of each site, at all points
  HT_SECTION_LAST = HT_SECTION_GPU_SITE_TIMELINE,
};

#define HT_SECTION_ZSTD 1u

struct ht_file_header {
  char magic[8];
  uint32_t version;
  uint32_t section_count;
  uint64_t file_bytes; // the whole file: a shorter one was cut, a longer one is not one report
  uint32_t crc32;
  uint32_t reserved;
};

struct ht_file_section {
  uint32_t id;
  uint32_t flags;
  uint64_t offset; // from the file's start
  uint64_t stored_bytes;
  uint64_t raw_bytes;
  uint32_t crc32;
  uint32_t reserved;
};

struct ht_file_kind {
  uint64_t live_bytes, live_blocks;
  uint64_t peak_bytes; // this kind's own peak
  uint64_t allocations, frees, temporaries, allocated_bytes;
};

// ht_file_process.flags
#define HT_PROCESS_MAIN 1u   // an image of the process that CMD started
#define HT_PROCESS_PYTHON 2u // Python hooks were in
#define HT_PROCESS_ATTACHED 4u
#define HT_PROCESS_ESTIMATED 8u        // --sample
#define HT_PROCESS_SCANNED 16u         // the leak scan ran to its end: an empty LEAKS section means no leaks
#define HT_PROCESS_FORKED 32u          // this image began with fork, not with exec
#define HT_PROCESS_PERIODIC 64u        // a snapshot of --snapshot-every: of a process that is killed it is what is left
#define HT_PROCESS_PYTHON_ABSENT 128u  // --py was asked for, and the program offers none of CPython's functions
#define HT_PROCESS_PYTHON_REFUSED 256u // --py was asked for, and does not know this Python

struct ht_file_process {
  uint32_t pid, ppid;
  uint32_t image; // 0 for a pid's first image, counting up with each exec
  uint32_t flags;
  uint32_t reason; // enum ht_reason
  uint32_t signal; // its number, 0: none
  uint32_t exe;    // string ref, absolute path
  uint32_t argv;   // string ref of argv[0]; the others follow it directly, each NUL-terminated
  uint32_t argc;
  uint32_t label; // string ref, snapshot label
  uint32_t rank;  // UINT32_MAX: none
  uint32_t depth; // frames kept of a stack: a longer chain of nodes is to be cut there and ends in [truncated]
  uint64_t started_unix_ns;
  uint64_t duration_ns;
  uint64_t sample_bytes; // 0: every allocation
  uint64_t peak_bytes;   // all kinds together
  uint64_t peak_ns;      // after the start
  uint64_t live_bytes;
  uint64_t peak_rss_bytes;
  uint64_t own_bytes;               // memory heaptide itself held in the process at the end
  uint64_t python_arena_free_bytes; // `python arenas, free`
  uint64_t unseen_calls;            // calls passed through without a record
  struct ht_file_kind kinds[HT_KIND_COUNT];
};

struct ht_file_module {
  uint64_t bias;        // runtime address = bias + address in the ELF file
  uint64_t start, end;  // the mapped span, runtime addresses
  uint32_t path;        // string ref, absolute path as the loader had it ("" for none)
  uint32_t flags;       // HT_MODULE_*
  uint8_t build_id[32]; // build_id_bytes of it
  uint32_t build_id_bytes;
  uint32_t reserved;
};
#define HT_MODULE_UNLOADED 1u  // dlclosed before the report
#define HT_MODULE_MAIN 2u      // the executable
#define HT_MODULE_OWN 4u       // libheaptide itself: its frames are never shown
#define HT_MODULE_ALLOCATOR 8u // an allocator of the program's
#define HT_MODULE_LIBC 16u

enum ht_frame_kind {
  HT_FRAME_NATIVE = 1,
  HT_FRAME_PYTHON = 2,
  HT_FRAME_JIT = 3,       // code in no module: `a` is UINT32_MAX, `b` the address; `name` where one is known
  HT_FRAME_TRUNCATED = 4, // the stack went on, but was not followed
  HT_FRAME_BEHALF = 5,    // no frame: what lies further out queued what lies further in, or started its thread
};

// native: a = module index, b = address in the ELF file of the call (already inside the call instruction,
//         so that a line lookup of b gives the calling line)
// python: a = string ref of the function's name, name = string ref of the file, b = line (0: unknown)
// behalf: a = string ref of what it says, `[on behalf of]` and the like
struct ht_file_frame {
  uint32_t kind;
  uint32_t a;
  uint32_t name;
  uint32_t reserved;
  uint64_t b;
};

// A stack is a node: its own frame is the innermost, the parent's the next one out, up to node 0.
struct ht_file_node {
  uint32_t parent;
  uint32_t frame;
};

struct ht_file_site {
  uint32_t node;
  uint16_t kind; // enum ht_kind
  uint16_t flags;
  uint64_t allocations, frees, temporaries, allocated_bytes;
  uint64_t live_bytes, live_blocks;
  uint64_t peak_bytes, peak_blocks; // this site's share of the process's peak
};
#define HT_SITE_ARENA 1u   // the row `python arenas, free`
#define HT_SITE_RESIDUE 2u // known library residue: not shown unless asked
#define HT_SITE_POOL 4u    // blocks that a framework's pool hands out pieces of: what is left of them

// Leaked blocks of one site. A python site's leak goes into the report's python list.
struct ht_file_leak {
  uint32_t site;
  uint32_t reserved;
  uint64_t direct_bytes, direct_blocks;
  uint64_t indirect_bytes, indirect_blocks;
};

struct ht_file_size {
  uint64_t up_to_bytes; // a power of two from 8 up: sizes in (up_to/2, up_to]; the first takes 0..8
  uint64_t allocations, bytes;
};

struct ht_file_sample {
  uint64_t at_ns; // after the start
  uint64_t live_bytes[HT_KIND_COUNT];
  uint64_t rss_bytes; // 0: not read
};

// What went on up to a sample.
struct ht_file_sample_calls {
  uint64_t allocations, temporaries; // since the start, all kinds together; never less than at the sample before
};

// HT_SECTION_SITE_TIMELINE and GPU_SITE_TIMELINE: this header, then uint64_t at_ns[point_count], then row_count rows of
// struct ht_file_site_row, each followed by uint64_t live_bytes[point_count].
struct ht_file_site_timeline {
  uint32_t point_count, row_count;
};
struct ht_file_site_row {
  uint32_t site;
  uint32_t reserved;
};

// A name that the program gave to one or more points in time: a repeated one is an iteration.
struct ht_file_mark_name {
  uint32_t name; // string ref
  uint32_t reserved;
  uint64_t count; // of its marks, those that have no row of their own included; at least 1
  uint64_t first_ns, last_ns;
  uint64_t first_live_bytes, last_live_bytes;
};
struct ht_file_mark {
  uint32_t name; // index in MARK_NAMES
  uint32_t reserved;
  uint64_t at_ns;      // after the start
  uint64_t live_bytes; // all kinds together
};

// What the report was asked to follow over time (--gpu-timeline).
#define HT_GPU_TIMELINE_SITES 1u
#define HT_GPU_TIMELINE_STREAMS 2u
#define HT_GPU_TIMELINE_FRAG 4u

struct ht_file_gpu {
  uint32_t timeline; // HT_GPU_TIMELINE_*
  uint32_t reserved;
  uint64_t late_freed_bytes, late_freed_blocks; // given back while the process was on its way out
  uint64_t late_lost_bytes, late_lost_blocks;   // the same, but the runtime was gone already and had freed them itself
  uint64_t failure_count;                       // allocations that failed for want of memory, told below or not
};

#define HT_GPU_UNKNOWN UINT64_MAX
struct ht_file_gpu_device {
  uint32_t device;
  uint32_t name;  // string ref, 0: unknown
  uint32_t flags; // HT_GPU_DEVICE_*
  uint32_t reserved;
  uint64_t live_bytes, peak_bytes, allocations; // kind device
  uint64_t total_bytes;                         // of memory, 0: unknown
  uint64_t reserved_bytes;                      // address ranges without memory
  uint64_t registered_bytes;                    // of the program's own memory, page-locked
  uint64_t pool_bytes, piece_bytes;             // frameworks' pool blocks, and what of them was handed out
  // By the driver when it was asked last: in use above what was in use before the first allocation, what was live then,
  // and what HIP's own pools had reserved and did not use. HT_GPU_UNKNOWN: never asked.
  uint64_t in_use_bytes, in_use_live_bytes, pool_unused_bytes;
};
#define HT_GPU_DEVICE_SIMULATED 1u

struct ht_file_gpu_stream {
  uint32_t device;
  uint32_t number; // 0: the default stream, UINT32_MAX: each thread's own; else in the order of creation, from 1
  uint64_t handle;
  uint64_t live_bytes, peak_bytes, allocations;
};

// HT_SECTION_GPU_TIMELINE: this header, then uint64_t at_ns[point_count], then row_count rows of struct
// ht_file_gpu_row, each followed by uint64_t bytes[point_count].
struct ht_file_gpu_timeline {
  uint32_t point_count, row_count;
};
enum ht_gpu_row_kind {
  HT_GPU_ROW_DEVICE = 1,      // live bytes of a device
  HT_GPU_ROW_STREAM = 2,      // live bytes of a stream
  HT_GPU_ROW_IN_USE = 3,      // of a device, by its driver
  HT_GPU_ROW_POOL_UNUSED = 4, // of a device
};
struct ht_file_gpu_row {
  uint32_t kind;  // enum ht_gpu_row_kind
  uint32_t index; // of the device or the stream in its section
};

struct ht_file_gpu_failure {
  uint32_t site;
  uint32_t device;
  uint32_t first_holder, holder_count; // in GPU_FAILURE_HOLDERS, largest first
  uint64_t at_ns, asked_bytes;
  uint64_t live_bytes; // of the device then
  uint64_t gap_bytes;  // the largest unused piece of a framework's pool, 0: no pool
};
struct ht_file_gpu_holder {
  uint32_t site;
  uint32_t reserved;
  uint64_t bytes, blocks;
};

// A tensor of a Python program that was alive when the report was taken.
struct ht_file_gpu_tensor {
  uint32_t device;
  uint32_t dtype; // string ref, 0: unknown
  uint32_t shape; // string ref: decimal numbers separated by commas
  uint32_t site;  // where its memory was allocated, 0: unknown
  uint32_t held;  // string ref: the first text of who holds it, from the object outwards; the others follow it directly
  uint32_t held_count;
  uint64_t bytes;
};

struct ht_file_thread {
  uint32_t tid;  // 0: the threads that are too many for rows of their own, summed
  uint32_t name; // string ref
  uint64_t allocations;
};

struct ht_file_thread_state {
  uint32_t flags; // HT_THREAD_*
  uint32_t reserved;
  int64_t net_bytes; // what it allocated less what it freed, whoever had allocated that
};
#define HT_THREAD_LIVES 1u

// Memory of a process that forks or was forked, when its report was begun. heaptide's own is left out.
struct ht_file_resident {
  uint32_t forked_from; // pid of the process that it was forked from, 0: none that was recorded
  uint32_t flags;       // HT_RESIDENT_*
  uint64_t resident_bytes;
  uint64_t anonymous_bytes; // of these neither pages of a file nor shared memory
  uint64_t shared_bytes;    // of these also in another process: neither has written to them since a fork
};
#define HT_RESIDENT_KNOWN 1u // the figures are: not of a checkpoint, nor without /proc

// What blocks of a site, mostly one of the process that this was forked from, have of shared_bytes.
struct ht_file_shared_site {
  uint32_t site;
  uint32_t reserved;
  uint64_t bytes;
};

// A thread that has sites of its own.
struct ht_file_owner {
  uint32_t tid;  // 0: all threads that are too many for sites of their own
  uint32_t name; // string ref
};

// What type of objects a Python site's live or lost blocks are, or are buffers of.
struct ht_file_type {
  uint32_t site;
  uint32_t name; // string ref
  uint64_t blocks, bytes;
};

// Free bytes of Python's pools that few blocks hold: less than an eighth of the pool is taken. Each block has the same
// share of its pool's free bytes.
struct ht_file_pinned {
  uint32_t site; // of the blocks; 0: all sites together
  uint32_t reserved;
  uint64_t blocks, bytes;
};

// Who holds a site's memory: the chain from the block that the site allocated outwards to a root.
struct ht_file_holder {
  uint32_t site;
  uint32_t first_link, link_count;
  uint32_t reserved;
};
enum ht_holder_kind {
  HT_HOLDER_SITE = 1,   // a block allocated at `site`
  HT_HOLDER_GLOBAL = 2, // module index `ref`, `address` in its ELF file
  HT_HOLDER_STACK = 3,  // thread index `ref`; `address`: runtime address of the word; `frame`: frame index or 0
  HT_HOLDER_TLS = 4,    // module index `ref` (UINT32_MAX: unknown), `address` the offset in its TLS block
  HT_HOLDER_TEXT = 5,   // string ref `ref`
};
struct ht_file_holder_link {
  uint32_t kind; // enum ht_holder_kind
  uint32_t ref;
  uint32_t frame;
  uint32_t reserved;
  uint64_t address;
};

#endif
