#include "rules.h"

#include <string.h>

#include "epilogue.h"
#include "lock.h"
#include "modules.h"
#include "sys.h"

#define FIRST_BITS 11
#define DICTIONARY_MAX 65536u

struct rule_table *rule_table_now;
static struct lock rules_lock = LOCK_INIT(LOCK_RANK_RULES);
static struct cfi_rule *dictionary; // index 0: CFI_UNKNOWN
static uint32_t dictionary_count;

static struct rule_table *table_new(uint32_t bits) {
  struct rule_table *table = sys_map(sizeof *table + (sizeof table->entries[0] << bits));
  if (!table) return NULL;
  table->shift = 64 - bits;
  table->mask = (1u << bits) - 1;
  return table;
}

bool rules_init(void) {
  dictionary = sys_map(DICTIONARY_MAX * sizeof *dictionary);
  rule_table_now = table_new(FIRST_BITS);
  if (!dictionary || !rule_table_now) return false;
  dictionary[0].kind = CFI_UNKNOWN;
  dictionary_count = 1;
  return true;
}

static rule_code code_short(const struct cfi_rule *rule) {
  if (rule->kind != CFI_PLAIN || rule->cfa_offset < 8 || rule->cfa_offset >= 32768 || rule->cfa_offset % 8) return 0;
  uint32_t words = 0;
  if (rule->rbp_base == CFI_AT_CFA) {
    int32_t below = -rule->rbp_offset - 8;
    if (below < 8 || below > 56 || below % 8) return 0;
    words = (uint32_t)below / 8;
  }
  return (uint32_t)rule->cfa_from_rbp << 15 | words << 12 | (uint32_t)rule->cfa_offset / 8;
}

static rule_code code_locked(const struct cfi_rule *rule) {
  rule_code code = code_short(rule);
  if (code) return code;
  for (uint32_t i = 0; i < dictionary_count; i++)
    if (memcmp(&dictionary[i], rule, sizeof *rule) == 0) return 1u << 16 | i;
  if (dictionary_count == DICTIONARY_MAX) return 1u << 16; // CFI_UNKNOWN: such stacks end early
  dictionary[dictionary_count] = *rule;
  return 1u << 16 | dictionary_count++;
}

struct cfi_rule rule_expand(rule_code code) {
  if (code >> 16) return dictionary[code & 0xffff];
  uint32_t words = RULE_RBP_WORDS(code);
  return (struct cfi_rule){.kind = CFI_PLAIN,
                           .cfa_from_rbp = RULE_FROM_RBP(code),
                           .cfa_offset = (int32_t)RULE_CFA_BYTES(code),
                           .rbp_base = words ? CFI_AT_CFA : CFI_SAME,
                           .rbp_offset = -8 - 8 * (int32_t)words,
                           .return_base = CFI_AT_CFA,
                           .return_offset = -8};
}

static void table_put(struct rule_table *table, uint64_t entry) {
  uint32_t at = (uint32_t)(((entry >> 17) * RULE_HASH) >> table->shift);
  while (table->entries[at]) at = (at + 1) & table->mask;
  __atomic_store_n(&table->entries[at], entry, __ATOMIC_RELEASE);
  table->used++;
}

// Two thirds full: a table twice as large takes over. The old one stays mapped, since readers may be in it.
static struct rule_table *table_with_room_locked(void) {
  struct rule_table *table = rule_table_now;
  if ((uint64_t)table->used * 3 < (uint64_t)table->mask * 2) return table;
  struct rule_table *larger = table_new(64 - table->shift + 1);
  if (!larger) return NULL;
  for (uint32_t i = 0; i <= table->mask; i++)
    if (table->entries[i]) table_put(larger, table->entries[i]);
  __atomic_store_n(&rule_table_now, larger, __ATOMIC_RELEASE);
  return larger;
}

void rules_forget(void) {
  struct rule_table *fresh = table_new(FIRST_BITS);
  if (fresh) __atomic_store_n(&rule_table_now, fresh, __ATOMIC_RELEASE);
}

rule_code rule_lookup_slow(uintptr_t pc) {
  if ((pc - 4096) >> 47) return 1u << 16; // no user address
  uint32_t version = module_version;
  uint32_t module = module_of(pc);
  struct cfi_rule rule = {.kind = CFI_NO_INFO};
  if (module != UINT32_MAX) {
    struct cfi_rule found = cfi_rule_at(pc, module_table[module].eh_frame_hdr);
    memset(&rule, 0, sizeof rule); // padding takes part in the dictionary's comparison
    rule.kind = found.kind, rule.signal_frame = found.signal_frame, rule.cfa_from_rbp = found.cfa_from_rbp;
    rule.cfa_indirect = found.cfa_indirect, rule.rbp_base = found.rbp_base, rule.return_base = found.return_base;
    rule.cfa_offset = found.cfa_offset, rule.rbp_offset = found.rbp_offset;
    rule.return_offset = found.return_offset;
  } else {
    epilogue_rule(pc + 1, &rule); // of an interrupted frame it is a guess, as the frame pointer would be
  }
  lock_take(&rules_lock);
  if (version != module_version) rules_forget();
  struct rule_table *table = table_with_room_locked();
  rule_code code = code_locked(&rule);
  if (table && module != UINT32_MAX) // code in no module may become a module's
    table_put(table, (uint64_t)pc << 17 | code);
  lock_drop(&rules_lock);
  return code;
}

struct lock *rules_lock_get(void) {
  return &rules_lock;
}
