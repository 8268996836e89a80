// sources: native/writer.c native/crc32.c native/text.c native/sys.c native/lock.c
// The file: its layout and checksums by a reader of its own, and what happens when it cannot be written.
#include "../../native/crc32.h"
#include "../../native/file_format.h"
#include "../../native/writer.h"
#include "expect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static char directory[64];

// ---- helpers

static void directory_make(void) {
  strcpy(directory, "/tmp/heaptide-writer-test.XXXXXX");
  if (!mkdtemp(directory)) abort();
}

// Removes everything in the folder; returns how many files there were and the name of the last.
static int directory_empty(char name[256]) {
  int count = 0;
  DIR *folder = opendir(directory);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    snprintf(name, 256, "%s", entry->d_name);
    unlinkat(dirfd(folder), entry->d_name, 0);
    count++;
  }
  closedir(folder);
  return count;
}

static char *file_read(const char *name, size_t *bytes) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *data = malloc(1 << 26);
  *bytes = fread(data, 1, 1 << 26, file);
  fclose(file);
  return data;
}

// Rows that compress to about a third.
static void rows_make(uint32_t *rows, size_t count) {
  for (size_t i = 0; i < count; i++) rows[i] = (uint32_t)(i * 2654435761u) >> 20;
}

static bool crc_right(const char *file, const struct ht_file_header *header) {
  struct ht_file_header zero = *header;
  zero.crc32 = 0;
  uint32_t crc = crc32_add(crc32_add(0, &zero, sizeof zero), file + sizeof zero,
                           header->section_count * sizeof(struct ht_file_section));
  return crc == header->crc32;
}

static char *section_read(const char *file, const struct ht_file_section *section) {
  char *raw = malloc(section->raw_bytes + 1);
  EXPECT(crc32_add(0, file + section->offset, section->stored_bytes) == section->crc32);
  if (section->flags & HT_SECTION_ZSTD)
    EXPECT(ZSTD_decompress(raw, section->raw_bytes, file + section->offset, section->stored_bytes) ==
           section->raw_bytes);
  else
    memcpy(raw, file + section->offset, section->raw_bytes);
  return raw;
}

// ---- tests

static void test_crc32(void) {
  EXPECT(crc32_add(0, "123456789", 9) == 0xcbf43926); // the check value of CRC-32/ISO-HDLC
  EXPECT(crc32_add(crc32_add(0, "1234", 4), "56789", 5) == 0xcbf43926);
}

static void test_sections_come_back(size_t row_count) {
  uint32_t *rows = malloc(row_count * sizeof *rows);
  rows_make(rows, row_count);
  struct writer *writer = writer_open(directory, 42, 0, 3);
  writer_section(writer, HT_SECTION_STRINGS);
  writer_add(writer, "abc", 4);
  writer_section_end(writer);
  writer_section(writer, HT_SECTION_NODES);
  for (size_t i = 0; i < row_count; i++) writer_add(writer, &rows[i], sizeof *rows);
  writer_section_end(writer);
  writer_section(writer, HT_SECTION_LEAKS);
  writer_section_end(writer);
  EXPECT(writer_close(writer) == 0);

  size_t bytes = 0;
  char *file = file_read("heaptide.42.bin", &bytes), name[256];
  EXPECT(directory_empty(name) == 1 && file);
  const struct ht_file_header *header = (const void *)file;
  const struct ht_file_section *sections = (const void *)(header + 1);
  EXPECT(memcmp(header->magic, HT_FILE_MAGIC, 8) == 0 && header->version == HT_FILE_VERSION);
  EXPECT(header->file_bytes == bytes && header->section_count == 3 && crc_right(file, header));
  EXPECT(sections[0].id == HT_SECTION_STRINGS && sections[0].flags == 0 && sections[0].raw_bytes == 4);
  EXPECT(sections[1].flags == HT_SECTION_ZSTD && sections[1].stored_bytes < sections[1].raw_bytes);
  EXPECT(sections[2].raw_bytes == 0 && sections[2].stored_bytes == 0);
  for (int i = 0; i < 3; i++) EXPECT(sections[i].offset % 8 == 0);
  char *strings = section_read(file, &sections[0]), *nodes = section_read(file, &sections[1]);
  EXPECT(memcmp(strings, "abc", 4) == 0);
  EXPECT(sections[1].raw_bytes == row_count * sizeof *rows && memcmp(nodes, rows, sections[1].raw_bytes) == 0);
  free(strings), free(nodes), free(file), free(rows);
}

static int write_much(int pid, uint32_t image) {
  static uint32_t rows[1 << 20];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) rows[i] = (uint32_t)random();
  struct writer *writer = writer_open(directory, pid, image, 1);
  writer_section(writer, HT_SECTION_NODES);
  writer_add(writer, rows, sizeof rows);
  writer_section_end(writer);
  return writer_close(writer);
}

static void checkpoint_write(const char *first, const char *second) {
  struct writer *writer = writer_open_checkpoint(directory, 42, 0, 3, 0);
  const char *parts[] = {first, second, ""};
  for (int i = 0; i < 3; i++) {
    writer_section(writer, HT_SECTION_STRINGS);
    writer_add(writer, parts[i], strlen(parts[i]));
    writer_section_end(writer);
  }
  EXPECT(writer_close(writer) == 0);
}

// A checkpoint is written over an older one: of that nothing shows between the sections, or behind them.
static void test_checkpoint_over_another(void) {
  size_t bytes = 0;
  char name[256];
  checkpoint_write("123456789012345678901234567890", "123456789012345678901234567890");
  checkpoint_write("a", "b");
  char *file = file_read(".heaptide.42.live", &bytes);
  EXPECT(directory_empty(name) == 1 && file);
  const struct ht_file_header *header = (const void *)file;
  const struct ht_file_section *sections = (const void *)(header + 1);
  EXPECT(header->file_bytes == bytes && sections[2].offset == bytes);
  for (int i = 0; i < 2; i++)
    for (uint64_t at = sections[i].offset + 1; at < sections[i + 1].offset; at++) EXPECT(file[at] == 0);
  free(file);
}

static void test_image_number_is_in_the_name(void) {
  char name[256];
  EXPECT(write_much(7, 3) == 0);
  EXPECT(directory_empty(name) == 1 && strcmp(name, "heaptide.7-3.bin") == 0);
}

// Over `ulimit -f` a write raises SIGXFSZ, whose default action kills.
static void test_file_size_limit(void) {
  char name[256];
  struct rlimit limit, small = {65536, RLIM_INFINITY};
  sigset_t blocked, saved;
  getrlimit(RLIMIT_FSIZE, &limit);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &blocked, &saved);
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT(write_much(7, 0) == EFBIG);
  setrlimit(RLIMIT_FSIZE, &limit);
  sigprocmask(SIG_SETMASK, &saved, NULL); // a signal that was left over kills the test here
  snprintf(name, sizeof name, "none");
  EXPECT(directory_empty(name) == 1 && strcmp(name, "heaptide.7.lost.27") == 0);
}

static void test_folder_is_gone(void) {
  char name[256];
  rmdir(directory);
  EXPECT(write_much(7, 0) == ENOENT);
  EXPECT(access(directory, F_OK) != 0);
  mkdir(directory, 0700);
  EXPECT(directory_empty(name) == 0);
}

static void test_links_are_not_followed(void) {
  char path[512], name[256];
  snprintf(path, sizeof path, "%s/.heaptide.7.tmp", directory);
  EXPECT(symlink("elsewhere", path) == 0);
  EXPECT(write_much(7, 0) == ELOOP);
  EXPECT(directory_empty(name) == 2); // the link and the note
}

static void test_descriptors_are_used_up(void) {
  char name[256];
  struct rlimit limit, few;
  getrlimit(RLIMIT_NOFILE, &limit);
  few = limit;
  few.rlim_cur = 3; // 0, 1 and 2 are open
  setrlimit(RLIMIT_NOFILE, &few);
  EXPECT(write_much(7, 0) == 0);
  getrlimit(RLIMIT_NOFILE, &few);
  EXPECT(few.rlim_cur == 3);
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT(directory_empty(name) == 1);
}

int main(void) {
  directory_make();
  test_crc32();
  test_sections_come_back(100);
  test_sections_come_back(WRITER_CHUNK_BYTES / sizeof(uint32_t)); // ends right where a chunk does
  test_sections_come_back(3000000);
  test_checkpoint_over_another();
  test_image_number_is_in_the_name();
  test_file_size_limit();
  test_folder_is_gone();
  test_links_are_not_followed();
  test_descriptors_are_used_up();
  rmdir(directory);
  return failures != 0;
}
