#include "process_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "program_name.h"

// What a process is known by from one run to the next.
struct identity {
  const struct ht_file_process *process;
  char name[PROGRAM_NAME_BYTES];
};

typedef bool identity_fits(const struct identity *base, const struct identity *new);

static bool is_same_process(const struct identity *base, const struct identity *new) {
  const struct ht_file_process *one = base->process, *other = new->process;
  return one->pid == other->pid && one->image == other->image && one->started_unix_ns == other->started_unix_ns;
}

static bool is_same_program(const struct identity *base, const struct identity *new) {
  return strcmp(base->name, new->name) == 0 && base->process->rank == new->process->rank;
}

static bool is_same_role(const struct identity *base, const struct identity *new) {
  const uint32_t role = HT_PROCESS_MAIN | HT_PROCESS_FORKED;
  return is_same_program(base, new) && (base->process->flags & role) == (new->process->flags &role);
}

// A program that was renamed between the two runs is still the one that the user started.
static bool is_both_main(const struct identity *base, const struct identity *new) {
  return base->process->flags & new->process->flags &HT_PROCESS_MAIN;
}

static struct identity *identities_make(const struct report_set *set) {
  struct identity *identities = memory_get(set->count, sizeof *identities);
  for (size_t i = 0; i < set->count; i++) {
    identities[i].process = set->reports[i].process;
    program_name_of(&set->reports[i], identities[i].name);
  }
  return identities;
}

// Gives each new process that has none yet the first base that fits and is still free.
static void pairs_find(identity_fits *fits, const struct identity *base, size_t base_count, bool *taken,
                       const struct identity *new, struct process_pair *pairs, size_t new_count) {
  for (size_t i = 0; i < new_count; i++)
    for (size_t k = 0; k < base_count && pairs[i].base == NO_PROCESS; k++) {
      if (taken[k] || !fits(&base[k], &new[i])) continue;
      pairs[i].base = k;
      taken[k] = true;
    }
}

struct process_pairs process_pairs_make(const struct report_set *base, const struct report_set *new) {
  static identity_fits *const rules[] = {is_same_process, is_same_role, is_same_program, is_both_main};
  struct identity *base_identities = identities_make(base), *new_identities = identities_make(new);
  bool *taken = memory_get(base->count, sizeof *taken);
  struct process_pairs pairs = {memory_get(base->count + new->count, sizeof *pairs.items), new->count};
  for (size_t i = 0; i < new->count; i++) pairs.items[i] = (struct process_pair){NO_PROCESS, i};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    pairs_find(rules[i], base_identities, base->count, taken, new_identities, pairs.items, new->count);
  for (size_t k = 0; k < base->count; k++)
    if (!taken[k]) pairs.items[pairs.count++] = (struct process_pair){k, NO_PROCESS};
  free(base_identities);
  free(new_identities);
  free(taken);
  return pairs;
}
