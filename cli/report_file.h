// A report file's bytes: header, section table, checksums, zstd. Knows nothing of what the sections mean.
#ifndef HT_REPORT_FILE_H
#define HT_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "file_format.h"
#include "problem.h"

#define REPORT_SECTION_LIMIT (HT_SECTION_LAST + 1)

struct section {
  void *data; // aligned for any type; NULL: the file has no such section
  uint64_t bytes;
};

struct report_file {
  struct section sections[REPORT_SECTION_LIMIT]; // by enum ht_section_id
};

// Reads the file at `path`. False: `problem` says why, `file` needs no report_file_free.
bool report_file_read(const char *path, struct report_file *file, struct problem *problem);

// The same from memory (what the fuzzer calls). The sections are copies; `bytes` may go afterwards.
bool report_file_parse(const uint8_t *bytes, size_t size, struct report_file *file, struct problem *problem);

void report_file_free(struct report_file *file);

#endif
