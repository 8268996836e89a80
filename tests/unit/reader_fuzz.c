// sources: cli/report_file.c cli/model.c cli/marks.c cli/gpu_timeline.c native/crc32.c cli/memory.c cli/problem.c
// libFuzzer on the reader of report files (tests/unit/fuzz): never a crash, a hang or absurd memory.
// The checksums are put right first: a fuzzer would never guess them.
#include "../../cli/model.h"
#include "../../native/crc32.h"

#include <stdlib.h>
#include <string.h>

static void checksums_set(uint8_t *bytes, size_t size) {
  struct ht_file_header header;
  if (size < sizeof header) return;
  memcpy(&header, bytes, sizeof header);
  if (header.section_count > (size - sizeof header) / sizeof(struct ht_file_section)) return;
  header.file_bytes = size;
  header.crc32 = 0;
  for (uint32_t i = 0; i < header.section_count; i++) {
    uint8_t *at = bytes + sizeof header + i * sizeof(struct ht_file_section);
    struct ht_file_section entry;
    memcpy(&entry, at, sizeof entry);
    if (entry.offset <= size && entry.stored_bytes <= size - entry.offset)
      entry.crc32 = crc32_add(0, bytes + entry.offset, entry.stored_bytes);
    memcpy(at, &entry, sizeof entry);
  }
  uint32_t crc = crc32_add(0, &header, sizeof header);
  header.crc32 = crc32_add(crc, bytes + sizeof header, header.section_count * sizeof(struct ht_file_section));
  memcpy(bytes, &header, sizeof header);
}

static uint64_t timeline_touch(const struct ht_file_site_timeline *timeline) {
  uint64_t sum = 0;
  for (uint32_t i = 0; timeline && i < timeline->row_count; i++)
    for (uint32_t k = 0; k < timeline->point_count; k++)
      sum += site_timeline_at_ns(timeline)[k] + site_timeline_bytes(site_timeline_row(timeline, i))[k];
  return sum;
}

// Reads everything that a report shows, as the sanitizers only see what is touched.
static uint64_t report_touch(const struct report *report) {
  uint64_t sum = strlen(report->strings + report->process->exe);
  for (uint32_t i = 0; i < report->process->argc; i++) sum += strlen(report_argument(report, i));
  for (uint32_t i = 1; i < report->site_count; i++)
    for (uint32_t node = report->sites[i].node, steps = 0; node && steps < 64;
         node = report->nodes[node].parent, steps++)
      sum += report->frames[report->nodes[node].frame].b;
  return sum + timeline_touch(report->site_timeline) + timeline_touch(report->gpu_site_timeline);
}

volatile uint64_t sink; // so that nothing is left out

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *bytes = malloc(size + 1);
  struct report_file file;
  struct report report;
  struct problem problem;
  memcpy(bytes, data, size);
  checksums_set(bytes, size);
  if (report_file_parse(bytes, size, &file, &problem) && report_take(&file, &report, &problem)) {
    sink += report_touch(&report);
    report_free(&report);
  }
  free(bytes);
  return 0;
}
