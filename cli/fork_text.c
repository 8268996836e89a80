#include "fork_text.h"

#include <stdlib.h>

#include "holders.h"
#include "memory.h"
#include "program_name.h"
#include "range_sum.h"
#include "units.h"

static const char *const kind_names[] = HT_KIND_NAMES;

enum { NAME_WIDTH = 60, SITE_WIDTH = 100, SITES_MOST = 3 };

// What a shell shares with its parts is not worth lines.
enum { SHOWN_BYTES = 1 << 20 };

static void alone_print(struct text_out *out, const struct ht_file_resident *figures) {
  char anonymous[UNITS_TEXT], shared[UNITS_TEXT];
  text_print(out, STYLE_PLAIN, "%s, %s of it in others too\n", bytes_text(anonymous, figures->anonymous_bytes),
             bytes_text(shared, figures->shared_bytes));
}

// ---- lines

static const struct report *report_of(const struct report_set *set, const struct fork_family *family, size_t member) {
  return &set->reports[family->members[member].report];
}

static void first_print(struct text_out *out, const struct report_set *set, const struct fork_family *family) {
  const struct report *report = report_of(set, family, 0);
  char name[PROGRAM_NAME_BYTES];
  if (family->members[0].parent_pid) return; // its parent has no report
  program_name_of(report, name);
  text_print(out, STYLE_PLAIN, "  pid %u, ", report->process->pid);
  text_print_foreign(out, STYLE_BOLD, name, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, ": ");
  if (fork_figures(report))
    alone_print(out, fork_figures(report));
  else
    text_print(out, STYLE_PLAIN, "not known\n");
}

static void forked_print(struct text_out *out, const struct report_set *set, const struct fork_family *family,
                         uint32_t parent_pid) {
  struct range_sum anonymous = {0}, shared = {0};
  size_t count = 0;
  for (size_t i = 0; i < family->count; i++) {
    if (family->members[i].parent_pid != parent_pid) continue;
    const struct ht_file_resident *figures = fork_figures(report_of(set, family, i));
    count++;
    if (!figures) continue;
    range_add(&anonymous, figures->anonymous_bytes);
    range_add(&shared, figures->shared_bytes);
  }
  text_print(out, STYLE_PLAIN, "  %zu forked from pid %u: ", count, parent_pid);
  if (!anonymous.count) {
    text_print(out, STYLE_PLAIN, "not known\n");
    return;
  }
  char *all = range_text(&anonymous), *part = range_text(&shared);
  text_print(out, STYLE_PLAIN, "%s\n      in others too: %s\n", all, part);
  free(all);
  free(part);
}

// Each parent once, in the order in which they forked first.
static void all_forked_print(struct text_out *out, const struct report_set *set, const struct fork_family *family) {
  for (size_t i = 0; i < family->count; i++) {
    uint32_t parent_pid = family->members[i].parent_pid;
    bool seen = parent_pid == 0;
    for (size_t j = 0; j < i && !seen; j++) seen = family->members[j].parent_pid == parent_pid;
    if (!seen) forked_print(out, set, family, parent_pid);
  }
}

static void sites_print(struct text_out *out, const struct fork_family *family, uint64_t top) {
  char bytes[UNITS_TEXT];
  for (size_t i = 0; i < family->site_count && i < SITES_MOST && i < top; i++) {
    const struct fork_site *site = &family->sites[i];
    char *words = site->frame ? frame_words(site->frame) : memory_format("[unknown]");
    text_print(out, STYLE_PLAIN, "%12s  of %s shared in %u process%s: ", bytes_text(bytes, site->bytes),
               kind_names[site->kind], site->processes, site->processes == 1 ? "" : "es");
    text_print_foreign(out, STYLE_BOLD, words, SITE_WIDTH);
    text_print(out, STYLE_PLAIN, "\n");
    free(words);
  }
}

static void family_print(struct text_out *out, const struct report_set *set, const struct fork_family *family,
                         uint64_t top) {
  char once[UNITS_TEXT], sum[UNITS_TEXT];
  text_print(out, STYLE_HEADING, "FORKED");
  text_print(out, STYLE_PLAIN, "  %s of anonymous memory in %zu processes, copy-on-write pages counted once\n",
             bytes_text(once, family->once_bytes), family->count);
  text_print(out, STYLE_PLAIN, "  counted in each: %s; of each as its report was begun, pages of files left out\n",
             bytes_text(sum, family->anonymous_bytes));
  if (family->unknown)
    text_print(out, STYLE_DIM, "  without %zu of them, of which nothing is known: killed, or not to be looked at\n",
               family->unknown);
  first_print(out, set, family);
  all_forked_print(out, set, family);
  sites_print(out, family, top);
  text_print(out, STYLE_PLAIN, "\n");
}

void fork_text(struct text_out *out, const struct report_set *set, const struct fork_families *families, uint64_t top) {
  for (size_t i = 0; i < families->count; i++)
    if (families->table[i].shared_bytes >= SHOWN_BYTES) family_print(out, set, &families->table[i], top);
}
