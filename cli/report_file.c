#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "crc32.h"
#include "memory.h"

#define TODO_RECORD_AGAIN "record it again with heaptide run"
#define TODO_OTHER_FILE "name a heaptide.*.bin file or the folder that heaptide run made"

// No honest recorder comes near this many; the table of a file that claims more is not read.
enum { SECTIONS_MAX = 1024 };

// What the sections may unpack to, so that a small hostile file cannot ask for all memory: real reports
// shrink 3 to 20 times.
static uint64_t unpacked_limit_bytes(size_t file_bytes) { return (64ull << 20) + 256 * (uint64_t)file_bytes; }

static bool header_check(const struct ht_file_header *header, size_t size, struct problem *problem) {
  if (header->version > HT_FILE_VERSION)
    return problem_set(problem, "update heaptide", "written by a newer heaptide (file version %u, this one reads %u)",
                       header->version, HT_FILE_VERSION);
  if (header->version == 0) return problem_set(problem, TODO_RECORD_AGAIN, "damaged: file version 0");
  if (header->file_bytes > size)
    return problem_set(problem, TODO_RECORD_AGAIN, "cut short: %zu of %llu bytes are there", size,
                       (unsigned long long)header->file_bytes);
  if (header->file_bytes < size)
    return problem_set(problem, TODO_RECORD_AGAIN, "not one report: %llu bytes follow its end",
                       (unsigned long long)(size - header->file_bytes));
  if (header->section_count > SECTIONS_MAX ||
      sizeof *header + header->section_count * sizeof(struct ht_file_section) > size)
    return problem_set(problem, TODO_RECORD_AGAIN, "damaged: the file is too small for %u sections",
                       header->section_count);
  return true;
}

static bool header_read(const uint8_t *bytes, size_t size, struct ht_file_header *header, struct problem *problem) {
  if (size < sizeof *header || memcmp(bytes, HT_FILE_MAGIC, sizeof header->magic) != 0) {
    bool begins_right = size < sizeof *header && memcmp(bytes, HT_FILE_MAGIC, size < 8 ? size : 8) == 0;
    return begins_right ? problem_set(problem, TODO_RECORD_AGAIN, "cut short: only %zu bytes are there", size)
                        : problem_set(problem, TODO_OTHER_FILE, "not a heaptide report");
  }
  memcpy(header, bytes, sizeof *header);
  if (!header_check(header, size, problem)) return false;
  struct ht_file_header blank = *header;
  blank.crc32 = 0;
  uint32_t crc = crc32_add(0, &blank, sizeof blank);
  crc = crc32_add(crc, bytes + sizeof blank, header->section_count * sizeof(struct ht_file_section));
  if (crc != header->crc32) return problem_set(problem, TODO_RECORD_AGAIN, "damaged: the header's checksum is wrong");
  return true;
}

static bool section_unpack(const uint8_t *stored, const struct ht_file_section *entry, void *raw) {
  if (!(entry->flags & HT_SECTION_ZSTD)) {
    if (entry->raw_bytes != entry->stored_bytes) return false;
    memcpy(raw, stored, entry->raw_bytes);
    return true;
  }
  size_t unpacked = ZSTD_decompress(raw, entry->raw_bytes, stored, entry->stored_bytes);
  return !ZSTD_isError(unpacked) && unpacked == entry->raw_bytes;
}

static bool section_read(const uint8_t *bytes, const struct ht_file_section *entry, struct section *section,
                         struct problem *problem) {
  const uint8_t *stored = bytes + entry->offset;
  if (crc32_add(0, stored, entry->stored_bytes) != entry->crc32)
    return problem_set(problem, TODO_RECORD_AGAIN, "damaged: the checksum of section %u is wrong", entry->id);
  void *raw = memory_get(entry->raw_bytes, 1);
  if (!section_unpack(stored, entry, raw)) {
    free(raw);
    return problem_set(problem, TODO_RECORD_AGAIN, "damaged: section %u does not unpack", entry->id);
  }
  *section = (struct section){.data = raw, .bytes = entry->raw_bytes};
  return true;
}

static bool sections_read(const uint8_t *bytes, size_t size, uint32_t count, struct report_file *file,
                          struct problem *problem) {
  uint64_t room_bytes = unpacked_limit_bytes(size);
  for (uint32_t i = 0; i < count; i++) {
    struct ht_file_section entry;
    memcpy(&entry, bytes + sizeof(struct ht_file_header) + i * sizeof entry, sizeof entry);
    if (entry.id >= REPORT_SECTION_LIMIT)
      continue; // something that a newer recorder adds: skipped by the format's rule
    if (file->sections[entry.id].data)
      return problem_set(problem, TODO_RECORD_AGAIN, "damaged: section %u is there twice", entry.id);
    if (entry.raw_bytes > room_bytes)
      return problem_set(problem, TODO_RECORD_AGAIN, "damaged: section %u claims %llu bytes", entry.id,
                         (unsigned long long)entry.raw_bytes);
    room_bytes -= entry.raw_bytes;
    if (!section_read(bytes, &entry, &file->sections[entry.id], problem)) return false;
  }
  return true;
}

struct extent {
  uint64_t start, end;
};

static int extent_compare(const void *left, const void *right) {
  const struct extent *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

static bool is_zero(const uint8_t *bytes, uint64_t start, uint64_t end) {
  while (start < end && bytes[start] == 0) start++;
  return start >= end;
}

// Sections do not overlap, and what lies between them is zero: so a changed byte is noticed wherever it is.
static bool extents_good(const uint8_t *bytes, size_t size, uint32_t count) {
  struct extent *extents = memory_get(count, sizeof *extents);
  uint64_t end = sizeof(struct ht_file_header) + count * sizeof(struct ht_file_section);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    struct ht_file_section entry;
    memcpy(&entry, bytes + sizeof(struct ht_file_header) + i * sizeof entry, sizeof entry);
    good = good && entry.offset <= size && entry.stored_bytes <= size - entry.offset;
    extents[i] = (struct extent){entry.offset, entry.offset + entry.stored_bytes};
  }
  qsort(extents, count, sizeof *extents, extent_compare);
  for (uint32_t i = 0; i < count && good; i++) {
    if (extents[i].start == extents[i].end) continue; // an empty section lies anywhere
    good = extents[i].start >= end && is_zero(bytes, end, extents[i].start);
    end = extents[i].end;
  }
  free(extents);
  return good && is_zero(bytes, end, size);
}

bool report_file_parse(const uint8_t *bytes, size_t size, struct report_file *file, struct problem *problem) {
  struct ht_file_header header;
  memset(file, 0, sizeof *file);
  if (!header_read(bytes, size, &header, problem)) return false;
  if (!extents_good(bytes, size, header.section_count))
    return problem_set(problem, TODO_RECORD_AGAIN, "damaged: its sections lie outside, over or between each other");
  if (sections_read(bytes, size, header.section_count, file, problem)) return true;
  report_file_free(file);
  return false;
}

// Reads to the end or to `bytes`; a file that shrinks meanwhile just gives less, which the header's size then tells.
static size_t descriptor_read(int descriptor, uint8_t *into, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    ssize_t got = read(descriptor, into + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
  return done;
}

bool report_file_read(const char *path, struct report_file *file, struct problem *problem) {
  // O_NONBLOCK: a named pipe must not make the tool wait.
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return problem_set(problem, "check the path and its rights", "cannot open: %s", strerror(errno));
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return problem_set(problem, TODO_OTHER_FILE, "not a regular file");
  }
  uint8_t *bytes = memory_get((size_t)status.st_size, 1);
  size_t size = descriptor_read(descriptor, bytes, (size_t)status.st_size);
  close(descriptor);
  bool good = report_file_parse(bytes, size, file, problem);
  free(bytes);
  return good;
}

void report_file_free(struct report_file *file) {
  for (uint32_t id = 0; id < REPORT_SECTION_LIMIT; id++) free(file->sections[id].data);
  memset(file, 0, sizeof *file);
}
