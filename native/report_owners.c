#include "report_owners.h"

#include "report_threads.h"
#include "site.h"
#include "sys.h"
#include "thread.h"

#define REST_NAME "later threads"

uint32_t owners_section_count(void) { return owners_on ? OWNER_SECTIONS : 0; }

static uint32_t owner_of_site(const struct report_tables *tables, uint32_t id) {
  return numbering_has(&tables->sites, id) ? owner_of_node(site_table[id].node) : 0;
}

// A number that the parent gave, in a fork child: whose it was is not known here.
static bool is_known(uint32_t number) { return number == OWNER_REST || (number >= owner_first && number < owner_end); }

static void owners_number(struct report_owners *owners, const struct report_tables *tables) {
  uint32_t used = 1;
  for (uint32_t id = 1; id < tables->site_end; id++) {
    uint32_t number = owner_of_site(tables, id);
    if (is_known(number)) owners->file_number[number] = 1;
  }
  for (uint32_t number = 1; number <= OWNER_REST; number++)
    if (owners->file_number[number]) owners->file_number[number] = used++;
}

static struct ht_file_owner owner_row(const struct report_owners *owners, uint32_t number) {
  if (number == OWNER_REST) return (struct ht_file_owner){0, tables_string(owners->tables, REST_NAME)};
  const struct owner *owner = &owner_table[number];
  if (owner->tid == (uint32_t)sys_pid())
    return (struct ht_file_owner){owner->tid, tables_string(owners->tables, "main")};
  uint32_t row = owner->ended ? UINT32_MAX : threads_index(owners->threads, owner->tid);
  uint32_t name = row < UINT32_MAX ? owners->threads->rows[row].name : tables_string(owners->tables, owner->name);
  return (struct ht_file_owner){owner->tid, name};
}

static void sites_write(const struct report_owners *owners, struct writer *writer) {
  uint32_t number = 0;
  writer_section(writer, HT_SECTION_SITE_OWNERS);
  writer_add(writer, &number, sizeof number);
  for (uint32_t id = 1; id < owners->tables->site_end; id++) {
    if (!numbering_has(&owners->tables->sites, id)) continue;
    number = owners->file_number[owner_of_site(owners->tables, id)];
    writer_add(writer, &number, sizeof number);
  }
  writer_section_end(writer);
}

void owners_write(struct report_owners *owners, struct report_tables *tables, const struct report_threads *threads,
                  struct writer *writer) {
  if (!owners_on) return;
  owners->tables = tables;
  owners->threads = threads;
  owners_number(owners, tables);
  struct ht_file_owner row = {0};
  writer_section(writer, HT_SECTION_OWNERS);
  writer_add(writer, &row, sizeof row);
  for (uint32_t number = 1; number <= OWNER_REST; number++) {
    if (!owners->file_number[number]) continue;
    row = owner_row(owners, number);
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
  sites_write(owners, writer);
}
