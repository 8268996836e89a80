// sources: cli/report_file.c cli/model.c cli/marks.c cli/gpu_timeline.c native/crc32.c cli/memory.c cli/problem.c
// The reader on files made here, one thing wrong at a time.
#include "../../cli/model.h"
#include "../../native/crc32.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The smallest good file: a process without arguments, and the empty string.
struct small_file {
  struct ht_file_header header;
  struct ht_file_section table[2];
  struct ht_file_process process;
  char strings[8];
};

static void seal(struct small_file *file) {
  file->table[0].crc32 = crc32_add(0, &file->process, sizeof file->process);
  file->table[1].crc32 = crc32_add(0, file->strings, sizeof file->strings);
  file->header.crc32 = 0;
  uint32_t crc = crc32_add(0, &file->header, sizeof file->header);
  file->header.crc32 = crc32_add(crc, file->table, sizeof file->table);
}

static struct small_file small_file(void) {
  struct small_file file;
  memset(&file, 0, sizeof file);
  memcpy(file.header.magic, HT_FILE_MAGIC, sizeof file.header.magic);
  file.header.version = HT_FILE_VERSION;
  file.header.section_count = 2;
  file.header.file_bytes = sizeof file;
  file.table[0] = (struct ht_file_section){.id = HT_SECTION_PROCESS,
                                           .offset = offsetof(struct small_file, process),
                                           .stored_bytes = sizeof file.process,
                                           .raw_bytes = sizeof file.process};
  file.table[1] = (struct ht_file_section){.id = HT_SECTION_STRINGS,
                                           .offset = offsetof(struct small_file, strings),
                                           .stored_bytes = sizeof file.strings,
                                           .raw_bytes = sizeof file.strings};
  file.process.pid = 4711;
  seal(&file);
  return file;
}

// What the reader says about the file, "" when it takes it.
static const char *verdict_on(const struct small_file *file, size_t bytes) {
  static struct problem problem;
  struct report_file sections;
  struct report report;
  problem.why[0] = 0;
  if (report_file_parse((const uint8_t *)file, bytes, &sections, &problem) &&
      report_take(&sections, &report, &problem)) {
    EXPECT(report.process->pid == 4711 && report.site_count == 0);
    report_free(&report);
  }
  return problem.why;
}

static void crc32_is_zlibs(void) {
  EXPECT(crc32_add(0, "123456789", 9) == 0xcbf43926);
  EXPECT(crc32_add(crc32_add(0, "1234", 4), "56789", 5) == 0xcbf43926);
  EXPECT(crc32_add(0, "", 0) == 0);
}

static void good_file_is_taken(void) {
  struct small_file file = small_file();
  EXPECT(!*verdict_on(&file, sizeof file));
}

static void every_cut_is_noticed(void) {
  struct small_file file = small_file();
  for (size_t bytes = 0; bytes < sizeof file; bytes++) EXPECT(strstr(verdict_on(&file, bytes), "cut short"));
}

static void every_changed_byte_is_noticed(void) {
  for (size_t at = 0; at < sizeof(struct small_file); at++) {
    struct small_file file = small_file();
    ((uint8_t *)&file)[at] ^= 0x10;
    EXPECT(*verdict_on(&file, sizeof file));
  }
}

static void newer_version_is_named(void) {
  struct small_file file = small_file();
  file.header.version = HT_FILE_VERSION + 1;
  seal(&file);
  EXPECT(strstr(verdict_on(&file, sizeof file), "written by a newer heaptide"));
}

static void references_are_checked(void) {
  struct small_file file = small_file();
  file.process.exe = sizeof file.strings;
  seal(&file);
  EXPECT(strstr(verdict_on(&file, sizeof file), "damaged"));
  file = small_file();
  file.process.argc = sizeof file.strings + 1;
  seal(&file);
  EXPECT(strstr(verdict_on(&file, sizeof file), "damaged"));
  file = small_file();
  file.process.reason = HT_REASON_KILLED + 1;
  seal(&file);
  EXPECT(strstr(verdict_on(&file, sizeof file), "damaged"));
}

int main(void) {
  crc32_is_zlibs();
  good_file_is_taken();
  every_cut_is_noticed();
  every_changed_byte_is_noticed();
  newer_version_is_named();
  references_are_checked();
  return failures != 0;
}
