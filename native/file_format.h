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
  HT_SECTION_PROCESS = 1,        // one struct ht_file_process
  HT_SECTION_STRINGS = 2,        // NUL-terminated byte strings; a ref is a byte offset; offset 0 is ""
  HT_SECTION_MODULES = 3,        // struct ht_file_module[]
  HT_SECTION_FRAMES = 4,         // struct ht_file_frame[]; index 0 unused
  HT_SECTION_NODES = 5,          // struct ht_file_node[]; index 0 is the root
  HT_SECTION_SITES = 6,          // struct ht_file_site[]; index 0 unused
  HT_SECTION_LEAKS = 7,          // struct ht_file_leak[]
  HT_SECTION_SIZES = 8,          // struct ht_file_size[]
  HT_SECTION_TIMELINE = 9,       // struct ht_file_sample[], oldest first
  HT_SECTION_SITE_TIMELINE = 10, // see struct ht_file_site_timeline
  HT_SECTION_THREADS = 11,       // struct ht_file_thread[]
  HT_SECTION_HOLDERS = 12,       // struct ht_file_holder[]
  HT_SECTION_HOLDER_LINKS = 13,  // struct ht_file_holder_link[]
  HT_SECTION_NOTES = 14,         // uint32_t string ref[]: what this report could not see, in a sentence each
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
#define HT_PROCESS_ESTIMATED 8u // --sample
#define HT_PROCESS_SCANNED 16u  // the leak scan ran to its end: an empty LEAKS section means no leaks
#define HT_PROCESS_FORKED 32u   // this image began with fork, not with exec

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
#define HT_MODULE_ALLOCATOR 8u // the module that the program's malloc comes from
#define HT_MODULE_LIBC 16u

enum ht_frame_kind {
  HT_FRAME_NATIVE = 1,
  HT_FRAME_PYTHON = 2,
  HT_FRAME_JIT = 3,       // code in no module: `a` is UINT32_MAX, `b` the address; `name` where one is known
  HT_FRAME_TRUNCATED = 4, // the stack went on, but was not followed
};

// native: a = module index, b = address in the ELF file of the call (already inside the call instruction,
//         so that a line lookup of b gives the calling line)
// python: a = string ref of the function's name, name = string ref of the file, b = line (0: unknown)
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

// HT_SECTION_SITE_TIMELINE: this header, then uint64_t at_ns[point_count], then row_count rows of
// struct ht_file_site_row, each followed by uint64_t live_bytes[point_count].
struct ht_file_site_timeline {
  uint32_t point_count, row_count;
};
struct ht_file_site_row {
  uint32_t site;
  uint32_t reserved;
};

struct ht_file_thread {
  uint32_t tid;  // 0: many threads that have ended, summed
  uint32_t name; // string ref
  uint64_t allocations;
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
