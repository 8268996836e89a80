// The unwind rule of each return address, worked out once. Readers take no lock.
#ifndef HT_RULES_H
#define HT_RULES_H

#include "cfi.h"

// A rule in 17 bits. 0: none. Plain rules with a CFA offset below 32 KiB and rbp saved close to it are written out:
//   15     CFA from rbp
//   14..12 rbp saved at CFA - 8 - 8 * this; 0: not saved
//   11..0  CFA offset / 8
// with bit 16 set, bits 15..0 are an index into the dictionary of all other rules.
typedef uint32_t rule_code;

#define RULE_FROM_RBP(code) ((code) >> 15 & 1)
#define RULE_RBP_WORDS(code) ((code) >> 12 & 7)
#define RULE_CFA_BYTES(code) ((uintptr_t)((code)&4095) * 8)
#define RULE_IS_SHORT(code) ((code)-1 < 0xffffu)

struct rule_table {
  uint32_t shift, mask, used, generation;
  uint64_t entries[]; // address << 17 | code, 0: empty; open addressing
};
extern HT_HIDDEN struct rule_table *rule_table_now;

bool rules_init(void);
rule_code rule_lookup_slow(uintptr_t pc);
struct cfi_rule rule_expand(rule_code code);

#define RULE_HASH 0x9E3779B97F4A7C15ull // 2^64 / golden ratio, Knuth's multiplicative hashing

// The rule for `pc` (return address - 1, or the exact address of an interrupted frame).
HT_INLINE rule_code rule_lookup(uintptr_t pc) {
  struct rule_table *table = __atomic_load_n(&rule_table_now, __ATOMIC_ACQUIRE);
  uint32_t at = (uint32_t)((pc * RULE_HASH) >> table->shift);
  for (;;) {
    uint64_t entry = __atomic_load_n(&table->entries[at], __ATOMIC_RELAXED);
    if (likely(entry >> 17 == pc)) return entry & 0x1ffff;
    if (!entry) return rule_lookup_slow(pc);
    at = (at + 1) & table->mask;
  }
}

// Forgets every rule: a module was replaced.
void rules_forget(void);
struct lock *rules_lock_get(void);

#endif
