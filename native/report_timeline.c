#include "report_timeline.h"

#include <string.h>

#include "process_info.h"
#include "sampler.h"
#include "sys.h"

static void sample_add(struct writer *writer, uint64_t at_ns, const struct timeline_values *values) {
  struct ht_file_sample row = {.at_ns = at_ns, .rss_bytes = values->rss_bytes};
  memcpy(row.live_bytes, values->live_bytes, sizeof row.live_bytes);
  writer_add(writer, &row, sizeof row);
}

// How many of the samples were taken before `end_ns`.
static uint32_t samples_until(const struct timeline *timeline, uint64_t end_ns) {
  uint32_t count = timeline ? timeline->count : 0;
  while (count > 0 && (count - 1) * timeline->period_ns >= end_ns) count--;
  return count;
}

void timeline_write(const struct ht_file_process *process, struct writer *writer) {
  const struct timeline *timeline = sampler_timeline();
  struct timeline_values last = {.rss_bytes = process_rss_bytes()};
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) last.live_bytes[kind] = process->kinds[kind].live_bytes;
  uint32_t count = samples_until(timeline, process->duration_ns);
  writer_section(writer, HT_SECTION_TIMELINE);
  for (uint32_t i = 0; i < count; i++) sample_add(writer, i * timeline->period_ns, &timeline->samples[i]);
  sample_add(writer, process->duration_ns, &last);
  writer_section_end(writer);
}

// The last sample is what the report says of the whole. Before it a sample may have counted a call of another thread
// that is not in there.
void timeline_calls_write(const struct ht_file_process *process, struct writer *writer) {
  const struct timeline *timeline = sampler_timeline();
  struct ht_file_sample_calls last = {0, 0};
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    last.allocations += process->kinds[kind].allocations;
    last.temporaries += process->kinds[kind].temporaries;
  }
  uint32_t count = samples_until(timeline, process->duration_ns);
  writer_section(writer, HT_SECTION_TIMELINE_CALLS);
  for (uint32_t i = 0; i < count; i++) {
    struct ht_file_sample_calls row = {timeline->samples[i].allocations, timeline->samples[i].temporaries};
    if (row.allocations > last.allocations) row.allocations = last.allocations;
    if (row.temporaries > last.temporaries) row.temporaries = last.temporaries;
    writer_add(writer, &row, sizeof row);
  }
  writer_add(writer, &last, sizeof last);
  writer_section_end(writer);
}

// ---- sites

struct row {
  uint32_t site;
  uint64_t most_bytes;
};

// Sites of the history with the most they ever held there, sorted by that, the highest TIMELINE_SITES of them.
struct rows {
  uint32_t count;
  struct row table[TIMELINE_SITES];
};

static void row_insert(struct rows *rows, struct row row) {
  if (rows->count == TIMELINE_SITES) {
    if (rows->table[TIMELINE_SITES - 1].most_bytes >= row.most_bytes) return;
    rows->count--;
  }
  uint32_t at = rows->count++;
  for (; at > 0 && rows->table[at - 1].most_bytes < row.most_bytes; at--) rows->table[at] = rows->table[at - 1];
  rows->table[at] = row;
}

// `most_bytes` by site has been cleared; it is used up.
static void rows_choose(const struct site_history *history, const struct report_tables *tables, uint64_t *most_bytes,
                        struct rows *rows) {
  for (uint32_t i = 0; i < history->row_count; i++) {
    const struct history_row *row = &history->rows[i];
    if (row->site < tables->site_end && row->live_bytes > most_bytes[row->site])
      most_bytes[row->site] = row->live_bytes;
  }
  for (uint32_t i = 0; i < history->row_count; i++) {
    uint32_t site = history->rows[i].site;
    if (site >= tables->site_end || most_bytes[site] == 0 || tables_site(tables, (site_id){site}) == 0) continue;
    row_insert(rows, (struct row){site, most_bytes[site]});
    most_bytes[site] = 0;
  }
}

// What `site` held at a point; 0 where it was too small to be noted. The rows of a point are sorted by site.
static uint64_t bytes_at(const struct site_history *history, uint32_t point, uint32_t site) {
  uint32_t low = history->points[point].first_row, high = history_rows_end(history, point);
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (history->rows[middle].site < site)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < history_rows_end(history, point) && history->rows[low].site == site;
  return found ? history->rows[low].live_bytes : 0;
}

static void rows_write(const struct site_history *history, const struct report_tables *tables, const struct rows *rows,
                       struct writer *writer) {
  struct ht_file_site_timeline header = {history->point_count, rows->count};
  writer_add(writer, &header, sizeof header);
  for (uint32_t point = 0; point < history->point_count; point++)
    writer_add(writer, &history->points[point].at_ns, sizeof(uint64_t));
  for (uint32_t i = 0; i < rows->count; i++) {
    struct ht_file_site_row row = {tables_site(tables, (site_id){rows->table[i].site}), 0};
    writer_add(writer, &row, sizeof row);
    for (uint32_t point = 0; point < history->point_count; point++) {
      uint64_t live_bytes = bytes_at(history, point, rows->table[i].site);
      writer_add(writer, &live_bytes, sizeof live_bytes);
    }
  }
}

void site_timeline_write(const struct report_tables *tables, struct writer *writer) {
  const struct site_history *history = sampler_history();
  size_t most_size = tables->site_end * sizeof(uint64_t);
  uint64_t *most_bytes = sys_map(most_size);
  struct rows *rows = sys_map(sizeof *rows);
  writer_section(writer, HT_SECTION_SITE_TIMELINE);
  if (history && most_bytes && rows) {
    rows_choose(history, tables, most_bytes, rows);
    rows_write(history, tables, rows, writer);
  }
  writer_section_end(writer);
  if (most_bytes) sys_unmap(most_bytes, most_size);
  if (rows) sys_unmap(rows, sizeof *rows);
}
