// Writes one report file (file_format.h), section by section, through raw system calls: no stdio, nothing of the
// program's heap, no descriptor kept. The file lies under its own name whole or not at all.
//
//   writer_open -> (writer_section, writer_add ..., writer_section_end) for each -> writer_close
//
// Errors are remembered: the calls after one do nothing and writer_close reports the first.
#ifndef HT_WRITER_H
#define HT_WRITER_H

#include "file_format.h"
#include "words.h"

#define WRITER_SECTIONS HT_SECTION_LAST // room for section table entries: each section is there once at most
#define WRITER_PATH_BYTES 4352u         // a folder (4096), a file name
#define WRITER_CHUNK_BYTES (64u * 1024)

struct writer {
  int fd;
  int error;                         // the first errno, 0: none
  char path[WRITER_PATH_BYTES];      // DIR/heaptide.<pid>[-N].bin
  char temporary[WRITER_PATH_BYTES]; // DIR/.heaptide.<pid>[-N].tmp
  struct ht_file_header header;
  struct ht_file_section sections[WRITER_SECTIONS];
  uint64_t offset;          // where the next bytes go
  uint32_t raw_used;        // bytes in `raw` that wait
  bool size_signal_pending; // a SIGXFSZ of the program's own waits: not to be taken
  bool streaming;           // the section is longer than `raw`: compressed as it comes
  bool plain;               // nothing is compressed
  bool in_place;            // a checkpoint: written over the last one, and nobody is told when that fails
  void *zstd;               // its context, in the memory behind
  char *zstd_memory;
  size_t zstd_used;
  char raw[WRITER_CHUNK_BYTES], stored[WRITER_CHUNK_BYTES + 1024];
};

// A writer in own memory for image `image` of `pid` in `directory`, for exactly `section_count` sections (at most
// WRITER_SECTIONS). NULL: no memory. SIGXFSZ is blocked by the caller until writer_close: a write over RLIMIT_FSIZE
// raises it, and it is taken back here.
struct writer *writer_open(const char *directory, int pid, uint32_t image, uint32_t section_count);
// The same for a checkpoint: plain, in place of an older one in one of two files, DIR/.heaptide.<pid>[-N].live and
// .live2. A reader takes the newer one that is whole.
struct writer *writer_open_checkpoint(const char *directory, int pid, uint32_t image, uint32_t section_count, int slot);
void writer_section(struct writer *writer, enum ht_section_id id);
void writer_add(struct writer *writer, const void *data, size_t bytes);
void writer_section_end(struct writer *writer);
// Finishes the file and gives it its name; frees the writer. Returns 0, or the errno of what went wrong: the
// temporary file is gone then, and an empty file `DIR/heaptide.<pid>[-N].lost.<errno>` says why where one can be
// made, for the launcher to tell the user (the recorder itself never writes to the program's stderr).
int writer_close(struct writer *writer);

// DIR/heaptide.<pid>[-N]SUFFIX, `hidden` with a dot in front. False: it is too long.
bool writer_path(char path[WRITER_PATH_BYTES], const char *directory, bool hidden, int pid, uint32_t image,
                 const char *suffix);
// By slot, 0 and 1.
extern const char *const checkpoint_suffixes[2];

#endif
