#include "report_holders.h"

static const struct held_site *front;
static uint32_t front_count;

static const struct held_tensor *tensors;
static uint32_t tensor_count;

void holders_tensors_set(const struct held_tensor *found, uint32_t count) {
  tensors = found;
  tensor_count = count;
}

const struct held_tensor *holders_tensors(uint32_t *count) {
  *count = tensor_count;
  return tensors;
}

void holders_front_set(const struct held_site *held, uint32_t count) {
  front = held;
  front_count = count;
}

// Keeps the table sorted; the smallest falls out when it is full.
static void holder_insert(struct report_holders *holders, site_id site, uint64_t peak_bytes) {
  if (holders->count == HOLDER_SITES) {
    if (holders->table[HOLDER_SITES - 1].peak_bytes >= peak_bytes) return;
    holders->count--;
  }
  uint32_t at = holders->count++;
  for (; at > 0 && holders->table[at - 1].peak_bytes < peak_bytes; at--) {
    holders->table[at].site = holders->table[at - 1].site;
    holders->table[at].peak_bytes = holders->table[at - 1].peak_bytes;
  }
  holders->table[at].site = site;
  holders->table[at].peak_bytes = peak_bytes;
}

static void sites_choose(struct report_holders *holders, const struct report_tables *tables) {
  for (uint32_t id = 1; id < tables->site_end; id++) {
    struct site_figures figures;
    tables_figures(tables, (site_id){id}, &figures);
    if (figures.peak_bytes && figures.live_blocks) holder_insert(holders, (site_id){id}, figures.peak_bytes);
  }
}

// A link through memory that was reserved, not allocated, has no site: it is left out of the chain.
static void links_without_site_drop(struct report_holder *holder) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < holder->link_count; k++)
    if (holder->links[k].kind != HT_HOLDER_SITE || holder->links[k].ref != 0) holder->links[kept++] = holder->links[k];
  holder->link_count = kept;
}

void holders_find(struct report_holders *holders, struct report_tables *tables) {
  for (uint32_t i = 0; i < front_count; i++) tables_want(tables, front[i].site);
  sites_choose(holders, tables);
  for (uint32_t i = 0; i < holders->count; i++) {
    struct report_holder *holder = &holders->table[i];
    holder->link_count = scan_holder(holder->site, holder->links, HOLDER_LINKS);
    links_without_site_drop(holder);
    for (uint32_t k = 0; k < holder->link_count; k++) {
      if (holder->links[k].kind == HT_HOLDER_SITE) tables_want(tables, (site_id){holder->links[k].ref});
      if (holder->links[k].frame) tables_want_frame(tables, holder->links[k].frame);
    }
  }
}

static struct ht_file_holder_link link_row(const struct scan_holder_link *link, struct report_tables *tables,
                                           const struct report_threads *threads) {
  struct ht_file_holder_link row = {.kind = link->kind, .ref = link->ref, .address = link->address};
  row.frame = tables_frame(tables, link->frame);
  if (link->kind == HT_HOLDER_SITE) row.ref = tables_site(tables, (site_id){link->ref});
  if (link->kind == HT_HOLDER_SITE && (!row.ref || row.ref == UINT32_MAX)) { // a site that this report does not have
    row.kind = HT_HOLDER_TEXT;
    row.ref = tables_string(tables, "memory of the parent process, or of the interpreter");
  }
  if (link->kind == HT_HOLDER_STACK) row.ref = threads_index(threads, link->ref);
  if (link->kind == HT_HOLDER_TEXT) row.ref = tables_string(tables, link->text);
  return row;
}

// A front end's words come first: of two chains of one site a reader takes the first.
static uint32_t front_rows_write(const struct report_tables *tables, struct writer *writer) {
  uint32_t links = 0;
  for (uint32_t i = 0; i < front_count; i++) {
    struct ht_file_holder row = {tables_site(tables, front[i].site), links, front[i].count, 0};
    links += front[i].count;
    if (row.site && front[i].count) writer_add(writer, &row, sizeof row);
  }
  return links;
}

static void front_links_write(struct report_tables *tables, struct writer *writer) {
  for (uint32_t i = 0; i < front_count; i++) {
    for (uint32_t k = 0; k < front[i].count; k++) {
      struct ht_file_holder_link row = {.kind = HT_HOLDER_TEXT, .ref = tables_string(tables, front[i].texts[k])};
      writer_add(writer, &row, sizeof row);
    }
  }
}

static void links_write(const struct report_holders *holders, struct report_tables *tables,
                        const struct report_threads *threads, struct writer *writer) {
  writer_section(writer, HT_SECTION_HOLDER_LINKS);
  front_links_write(tables, writer);
  for (uint32_t i = 0; i < holders->count; i++) {
    for (uint32_t k = 0; k < holders->table[i].link_count; k++) {
      struct ht_file_holder_link row = link_row(&holders->table[i].links[k], tables, threads);
      writer_add(writer, &row, sizeof row);
    }
  }
  writer_section_end(writer);
}

void holders_write(const struct report_holders *holders, struct report_tables *tables,
                   const struct report_threads *threads, struct writer *writer) {
  writer_section(writer, HT_SECTION_HOLDERS);
  uint32_t links = front_rows_write(tables, writer);
  for (uint32_t i = 0; i < holders->count; i++) {
    const struct report_holder *holder = &holders->table[i];
    struct ht_file_holder row = {tables_site(tables, holder->site), links, holder->link_count, 0};
    links += holder->link_count;
    if (holder->link_count) writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
  links_write(holders, tables, threads, writer);
}
