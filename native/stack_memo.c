#include "stack_memo.h"

#include "rules.h"
#include "stack_merge.h"
#include "stack_path.h"
#include "stack_table.h"
#include "sys.h"

uint32_t stack_depth = 64;
uint64_t stack_unknown_rules;

#define HASH_BASE 0x9E3779B97F4A7C55ull // odd: multiplication is a bijection
static uint64_t base_to_depth;          // HASH_BASE ^ depth
static uint32_t record_max, walk_max;   // frames in a record, frames of one walk from scratch

// A guessed frame may be this large; beyond it the frame pointer was some other number.
#define GUESS_FRAME_BYTES 0x4000u

void stack_memo_init(uint32_t depth) {
  stack_depth = depth;
  walk_max = 2 * depth;
  record_max = 4 * depth + 8;
  base_to_depth = 1;
  for (uint32_t i = 0; i < depth; i++) base_to_depth *= HASH_BASE;
}

static bool memo_allocate(struct stack_memo *memo) {
  size_t slots = record_max * sizeof(struct memo_slot), infos = record_max * sizeof(struct memo_info);
  size_t checks = 2 * record_max * sizeof(struct memo_check), odds = record_max * sizeof(struct memo_odd);
  size_t walked = record_max * sizeof(struct memo_walked);
  _Static_assert(sizeof *memo->arrays <= 64, "arrays");
  size_t paths = (sizeof(struct memo_paths) + 63) & ~63ul, arrays = 64; // what is looked at most in whole cache lines
  char *memory = sys_map(paths + arrays + slots + infos + checks + 2 * odds + walked);
  if (!memory) return false;
  struct memo_paths *path_table = (struct memo_paths *)memory;
  memory += paths;
  memo->arrays = (struct memo_arrays *)memory, memory += arrays;
  memo->arrays->paths = path_table;
  memo->frames = (struct memo_slot *)memory, memory += slots;
  memo->arrays->infos = (struct memo_info *)memory, memory += infos;
  memo->checks = (struct memo_check *)memory, memory += checks; // at most two a frame
  memo->arrays->odds = (struct memo_odd *)memory, memory += odds;
  memo->arrays->walked_odds = (struct memo_odd *)memory, memory += odds;
  memo->arrays->walked = (struct memo_walked *)memory;
  stack_path_forget(path_table);
  return true;
}

static void record_reset(struct stack_memo *memo) {
  memo->count = memo->window_start = memo->top_checks = memo->window_checks = 0;
  memo->top_slot = 0;
  memo->foreign = false;
  memo->foreign_low = memo->foreign_high = 0;
  memo->site_keys[0] = memo->site_keys[1] = 0;
  memo->sites[0] = memo->sites[1] = (site_id){0};
}

void stack_memo_reset(struct stack_memo *memo) {
  record_reset(memo);
  if (memo->arrays) stack_path_forget(memo->arrays->paths);
}

static void salt_make(struct stack_memo *memo, uint32_t owner) { memo->salt = module_generation << OWNER_BITS | owner; }

void stack_memo_own(struct stack_memo *memo, uint32_t owner) {
  stack_memo_reset(memo);
  salt_make(memo, owner);
}

// ---- may a word of the stack be read?

// Stacks that the thread runs on besides its own (fibers, alternate signal stacks): page by page, by asking the
// kernel once.
static HT_NOINLINE bool foreign_readable(struct stack_memo *memo, uintptr_t address) {
  memo->seen_foreign = true;
  if (address & 7) return false;
  if (address >= memo->stack_low && address + 8 <= memo->stack_high) return true;
  if (address >= memo->foreign_low && address < memo->foreign_high) return true;
  if (!sys_readable(address)) return false;
  uintptr_t page = address & ~4095ul;
  if (memo->foreign_high && page == memo->foreign_high) {
    memo->foreign_high += 4096;
  } else {
    memo->foreign_low = page;
    memo->foreign_high = page + 4096;
  }
  return true;
}

HT_INLINE bool memo_readable(struct stack_memo *memo, uintptr_t address) {
  if (likely(address - memo->stack_low < memo->stack_high - memo->stack_low && !(address & 7))) return true;
  return foreign_readable(memo, address);
}

// ---- one step out

struct walk {
  uintptr_t slot, value, rbp; // the frame being looked at
  uint32_t rbp_distance;
  uint8_t odd, uses_rbp;
  struct memo_odd general;
};

enum walk_result { WALK_ON, WALK_END, WALK_UNKNOWN };

// No unwind information: with a frame pointer the two words at rbp are the caller's rbp and the return address.
static enum walk_result step_guess(struct stack_memo *memo, struct walk *walk, uintptr_t rsp) {
  uintptr_t rbp = walk->rbp;
  walk->uses_rbp = 1;
  if ((rbp & 7) || rbp < rsp || rbp - rsp > GUESS_FRAME_BYTES) return WALK_END;
  if (!memo_readable(memo, rbp) || !memo_readable(memo, rbp + 8)) return WALK_END;
  uintptr_t value = *(uintptr_t *)(rbp + 8);
  if (value < 4096 || value >> 47) return WALK_END;
  walk->rbp = *(uintptr_t *)rbp;
  walk->rbp_distance = 8;
  walk->slot = rbp + 8;
  walk->value = value;
  walk->odd = 0;
  return WALK_ON;
}

static uintptr_t base_of(uint8_t base, uintptr_t cfa, uintptr_t rsp, uintptr_t rbp) {
  return base == CFI_AT_CFA ? cfa : base == CFI_AT_RSP ? rsp : rbp;
}

static enum walk_result step_rule(struct stack_memo *memo, struct walk *walk, uintptr_t rsp, struct cfi_rule rule) {
  uintptr_t rbp = walk->rbp, cfa = (rule.cfa_from_rbp ? rbp : rsp) + (uintptr_t)(intptr_t)rule.cfa_offset;
  uintptr_t cfa_slot = 0;
  walk->uses_rbp = rule.cfa_from_rbp || rule.rbp_base == CFI_AT_RBP || rule.return_base == CFI_AT_RBP;
  if (rule.cfa_indirect) {
    if (!memo_readable(memo, cfa)) return WALK_END;
    cfa_slot = cfa;
    cfa = *(uintptr_t *)cfa;
  }
  if (!rule.signal_frame && cfa <= rsp) return WALK_END; // stacks grow down: anything else is a broken rule
  uintptr_t slot = base_of(rule.return_base, cfa, rsp, rbp) + (uintptr_t)(intptr_t)rule.return_offset;
  uintptr_t rbp_slot = rule.rbp_base ? base_of(rule.rbp_base, cfa, rsp, rbp) + (uintptr_t)(intptr_t)rule.rbp_offset : 0;
  if (!memo_readable(memo, slot) || (rbp_slot && !memo_readable(memo, rbp_slot))) return WALK_END;
  if (rbp_slot) walk->rbp = *(uintptr_t *)rbp_slot;
  bool general = rule.signal_frame || cfa_slot || slot != cfa - 8 || slot - rbp_slot > 0x7fffffff;
  walk->odd = (rule.signal_frame ? MEMO_INTERRUPTED : 0) | (general ? MEMO_GENERAL : 0);
  walk->general = (struct memo_odd){cfa, cfa_slot, rbp_slot};
  walk->rbp_distance = rbp_slot && !general ? (uint32_t)(slot - rbp_slot) : 0;
  walk->slot = slot;
  walk->value = *(uintptr_t *)slot;
  return WALK_ON;
}

static HT_NOINLINE enum walk_result step_slow(struct stack_memo *memo, struct walk *walk, rule_code code) {
  uintptr_t rsp = walk->odd & MEMO_GENERAL ? walk->general.rsp : walk->slot + 8;
  struct cfi_rule rule = rule_expand(code);
  walk->uses_rbp = 0;
  switch (rule.kind) {
  case CFI_PLAIN:
  case CFI_GENERAL:
    return step_rule(memo, walk, rsp, rule);
  case CFI_NO_INFO:
    return step_guess(memo, walk, rsp);
  case CFI_END:
    return WALK_END;
  default:
    walk->uses_rbp = 1;
    return WALK_UNKNOWN;
  }
}

// `walk`, the frame noted in `walked`, becomes its caller.
HT_INLINE enum walk_result step(struct stack_memo *memo, struct walk *walk, struct memo_walked *walked) {
  if (unlikely((walk->value - 4096) >> 47)) return walked->uses_rbp = 0, WALK_END; // null or no address: the end
  rule_code code = rule_lookup(walk->odd & MEMO_INTERRUPTED ? walk->value : walk->value - 1);
  uintptr_t slot = (RULE_FROM_RBP(code) ? walk->rbp : walk->slot + 8) + RULE_CFA_BYTES(code) - 8;
  uintptr_t words = RULE_RBP_WORDS(code), rbp_slot = slot - words * 8, low = memo->stack_low;
  uintptr_t span = memo->stack_high - low;
  if (likely(RULE_IS_SHORT(code) && !walk->odd && slot > walk->slot && slot - low < span && rbp_slot - low < span &&
             !(slot & 7))) {
    walked->uses_rbp = RULE_FROM_RBP(code);
    if (words) walk->rbp = *(uintptr_t *)rbp_slot;
    walk->rbp_distance = (uint32_t)words * 8;
    walk->slot = slot;
    walk->value = *(uintptr_t *)slot;
    return WALK_ON;
  }
  struct walk slow = *walk; // a copy, so that the walk itself can stay in registers
  enum walk_result result = step_slow(memo, &slow, code);
  *walk = slow;
  walked->uses_rbp = walk->uses_rbp;
  return result;
}

// ---- the record

static uintptr_t rbp_slot_of(const struct stack_memo *memo, uint32_t frame) {
  const struct memo_info *info = &memo->arrays->infos[frame];
  if (unlikely(info->odd & MEMO_GENERAL)) return memo->arrays->odds[frame].rbp_slot;
  return info->rbp_distance ? memo->frames[frame].slot - info->rbp_distance : 0;
}

// The words besides return addresses that frame depends on. Returns the new end of the checks.
static uint32_t checks_add(struct stack_memo *memo, uint32_t frame, uint32_t end) {
  const struct memo_info *info = &memo->arrays->infos[frame];
  struct memo_check *checks = memo->checks;
  if (info->rbp_matters) {
    uintptr_t slot = rbp_slot_of(memo, frame);
    if (slot) checks[end++] = (struct memo_check){slot, info->rbp, frame};
  }
  if ((info->odd & MEMO_GENERAL) && memo->arrays->odds[frame].cfa_slot)
    checks[end++] = (struct memo_check){memo->arrays->odds[frame].cfa_slot, memo->arrays->odds[frame].rsp, frame};
  return end;
}

// The innermost frame in [outer, met) that is not proven unchanged; -1: all are. On foreign stacks, where no slot may
// be read before the frames inside it are proven.
static HT_NOINLINE int64_t first_changed_foreign(const struct stack_memo *memo, int64_t met, int64_t outer) {
  const struct memo_info *infos = memo->arrays->infos;
  uint32_t check = infos[met].checks;
  for (int64_t i = met - 1; i >= outer; i--) {
    for (; check > infos[i].checks; check--)
      if (*(uintptr_t *)memo->checks[check - 1].address != memo->checks[check - 1].value) return i;
    if (memo_slot_change(&memo->frames[i])) return i;
  }
  return -1;
}

// The same on the thread's own stack: the slots first, which need not be looked up.
HT_INLINE int64_t first_changed(const struct stack_memo *memo, int64_t met, int64_t outer) {
  if (outer >= met) return -1; // the window ends inside
  if (unlikely(memo->foreign)) return first_changed_foreign(memo, met, outer);
  int64_t changed = met - 1;
  while (changed >= outer && !memo_slot_change(&memo->frames[changed])) changed--;
  const struct memo_info *infos = memo->arrays->infos;
  uint32_t proven = infos[changed >= outer ? changed + 1 : outer].checks;
  for (uint32_t check = infos[met].checks; check > proven; check--)
    if (*(uintptr_t *)memo->checks[check - 1].address != memo->checks[check - 1].value)
      return memo->checks[check - 1].frame;
  return changed >= outer ? changed : -1;
}

HT_INLINE void walked_push(struct stack_memo *memo, uint32_t *count, const struct walk *walk) {
  memo->arrays->walked[*count] =
      (struct memo_walked){walk->slot, walk->value, walk->rbp, walk->rbp_distance, walk->uses_rbp, walk->odd};
  if (unlikely(walk->odd & MEMO_GENERAL)) memo->arrays->walked_odds[*count] = walk->general;
  ++*count;
}

static void walk_to_recorded(const struct stack_memo *memo, uint32_t frame, uintptr_t rbp, struct walk *walk) {
  const struct memo_info *info = &memo->arrays->infos[frame];
  *walk = (struct walk){memo->frames[frame].slot,
                        memo->frames[frame].value,
                        rbp,
                        info->rbp_distance,
                        info->odd,
                        info->uses_rbp,
                        {0, 0, 0}};
  if (info->odd & MEMO_GENERAL) walk->general = memo->arrays->odds[frame];
}

// Frames [changed + 1, met] are proven, `changed` is not: they are taken over as walked, and walking goes on from
// the outermost of them. At most `stack_depth` frames are walked after it, since the window ends there.
static HT_NOINLINE void take_over(struct stack_memo *memo, int64_t met, int64_t changed, struct walk *walk,
                                  uint32_t *count) {
  uintptr_t rbp = walk->rbp;
  struct walk frame = *walk;
  for (int64_t i = met; i > changed; i--) {
    if (i != met) {
      uintptr_t slot = rbp_slot_of(memo, (uint32_t)i);
      if (slot) rbp = *(uintptr_t *)slot;
      walk_to_recorded(memo, (uint32_t)i, rbp, &frame);
    } else {
      frame.uses_rbp = memo->arrays->infos[i].uses_rbp;
    }
    if (i > changed + 1) walked_push(memo, count, &frame);
  }
  *walk = frame;
}

HT_INLINE bool is_recorded(const struct stack_memo *memo, int64_t at, const struct walk *walk) {
  const struct memo_info *info = &memo->arrays->infos[at];
  return memo->frames[at].slot == walk->slot && memo->frames[at].value == walk->value && !(info->odd | walk->odd) &&
         (!info->rbp_matters || info->rbp == walk->rbp);
}

// Walks until a recorded frame proves the rest; returns its index, -1: none (`*complete` says whether the end was
// reached). The walked frames are in arrays->walked.
static int64_t walk_out(struct stack_memo *memo, struct walk *start, uint32_t *walked_count, bool *complete) {
  struct walk walk = *start;
  int64_t at = (int64_t)memo->count - 1;
  uint32_t count = 0;
  enum walk_result result = WALK_ON;
  while (result == WALK_ON) {
    while (at >= 0 && memo->frames[at].slot < walk.slot) at--;
    if (at >= 0 && is_recorded(memo, at, &walk)) {
      int64_t outer = at + 1 + (int64_t)count - (int64_t)stack_depth;
      int64_t changed = first_changed(memo, at, outer > 0 ? outer : 0);
      if (likely(changed < 0)) break;
      struct walk taken = walk;
      take_over(memo, at, changed, &taken, &count);
      walk = taken;
      at = changed;
    }
    if (unlikely(count >= walk_max)) {
      result = WALK_UNKNOWN;
      break;
    }
    struct memo_walked *walked = &memo->arrays->walked[count];
    walked_push(memo, &count, &walk);
    result = step(memo, &walk, walked);
    if (unlikely(result == WALK_UNKNOWN)) __atomic_add_fetch(&stack_unknown_rules, 1, __ATOMIC_RELAXED);
  }
  *start = walk;
  *walked_count = count;
  *complete = result != WALK_UNKNOWN;
  return result == WALK_ON ? at : -1;
}

static uint64_t address_mix(uintptr_t address) {
  uint64_t value = address * 0xD6E8FEB86659FD93ull;
  return value ^ value >> 32;
}

// Appends the walked frames to the record behind frame `met`.
static void record_extend(struct stack_memo *memo, int64_t met, uintptr_t met_rbp, uint32_t met_distance,
                          uint32_t walked_count) {
  struct memo_info *infos = memo->arrays->infos;
  uint32_t frame = (uint32_t)(met + 1), checks = 0;
  uint64_t sum = 0;
  bool rbp_live = false; // is rbp needed further out, and not reloaded on the way there
  if (met >= 0) {
    infos[met].rbp = met_rbp;
    infos[met].rbp_distance = met_distance;
    checks = checks_add(memo, (uint32_t)met, infos[met].checks);
    sum = infos[met].sum;
    rbp_live = infos[met].rbp_matters && !met_distance;
  }
  for (; walked_count-- > 0; frame++) {
    const struct memo_walked *walked = &memo->arrays->walked[walked_count];
    memo->frames[frame] = (struct memo_slot){walked->slot, walked->value};
    sum = sum * HASH_BASE + address_mix(walked->value);
    infos[frame] = (struct memo_info){.sum = sum,
                                      .rbp = walked->rbp,
                                      .rbp_distance = walked->rbp_distance,
                                      .checks = checks,
                                      .rbp_matters = walked->uses_rbp || rbp_live,
                                      .uses_rbp = walked->uses_rbp,
                                      .odd = walked->odd};
    if (walked->odd & MEMO_GENERAL) memo->arrays->odds[frame] = memo->arrays->walked_odds[walked_count];
    if (likely(!(infos[frame].rbp_matters | walked->odd))) continue; // rbp_live is false, and no check to add
    checks = checks_add(memo, frame, checks);
    rbp_live = infos[frame].rbp_matters && !rbp_slot_of(memo, frame);
  }
  memo->count = frame;
}

// Notes the innermost frame and the window, and hashes it.
static uint64_t record_top(struct stack_memo *memo) {
  const struct memo_info *infos = memo->arrays->infos;
  uint32_t top = memo->count - 1;
  bool cut = memo->count > stack_depth;
  memo->window_start = cut ? memo->count - stack_depth : 0;
  memo->top_slot = memo->frames[top].slot;
  memo->top_value = memo->frames[top].value;
  memo->top_rbp = infos[top].rbp;
  memo->top_rbp_matters = infos[top].rbp_matters;
  memo->top_checks = infos[top].checks;
  memo->window_checks = infos[memo->window_start].checks;
  uint64_t hash = infos[top].sum;
  if (cut) hash -= infos[memo->window_start - 1].sum * base_to_depth;
  if (cut || !memo->complete) hash += 0x632BE59BD9B4E019ull;
  hash += (uint64_t)memo->salt * 0xE7037ED1A0B428DBull;
  hash = (hash ^ hash >> 31) * 0xFF51AFD7ED558CCDull; // splitmix's finish: all bits reach the upper half
  return memo->top_hash = hash ^ hash >> 33;
}

// Walks what is new and updates the record. Returns the window's hash.
static HT_NOINLINE uint64_t memo_walk(struct stack_memo *memo, struct hook_frame entry) {
  for (;;) {
    if (memo->version != module_version) {
      stack_memo_reset(memo);
      memo->version = module_version;
      salt_make(memo, stack_memo_owner(memo));
    }
    struct walk walk = {.slot = entry.slot, .value = *(uintptr_t *)entry.slot, .rbp = entry.rbp};
    uint32_t walked_count;
    bool complete;
    memo->seen_foreign = !(entry.slot - memo->stack_low < memo->stack_high - memo->stack_low);
    int64_t met = walk_out(memo, &walk, &walked_count, &complete);
    if (memo->version != module_version) continue; // the walk itself came upon a module in another's place
    uint32_t known = (uint32_t)(met + 1) + walked_count;
    if (met >= 0 && (known > record_max || (!memo->complete && known < stack_depth))) {
      record_reset(memo); // too long, or too short to fill the window: from scratch, which leaves room for both
      continue;
    }
    if (met < 0) memo->complete = complete, memo->foreign = false;
    memo->foreign |= memo->seen_foreign;
    record_extend(memo, met, walk.rbp, walk.rbp_distance, walked_count);
    record_top(memo);
    if (met >= 0 && memo->complete && !memo->foreign) stack_path_note(memo, (uint32_t)met);
    return memo->top_hash;
  }
}

// ---- from the record to a site

struct node_request {
  const struct stack_memo *memo;
  uint32_t line_node;
};

uint32_t stack_memo_outermost_locked(const struct stack_memo *memo, bool cut) {
  uint32_t node = owner_node_locked(stack_memo_owner(memo));
  return cut ? node_intern_locked(node, FRAME_TRUNCATED) : node;
}

// The node of the innermost frame, interning what is not yet. The caller holds site_lock.
static node_id memo_node(void *context) {
  const struct node_request *request = context;
  const struct stack_memo *memo = request->memo;
  if (request->line_node) return stack_merge_node(memo, request->line_node);
  uint32_t at = memo->count, node;
  struct memo_info *infos = memo->arrays->infos;
  while (at > 0 && !infos[at - 1].node) at--;
  if (at > 0)
    node = infos[at - 1].node;
  else
    node = stack_memo_outermost_locked(memo, !memo->complete);
  for (; at < memo->count; at++) {
    if (memo->frames[at].value >= 4096) // a null return address ends a stack, it is no frame
      node = node_intern_locked(node, frame_native_locked(memo->frames[at].value, infos[at].odd & MEMO_INTERRUPTED));
    infos[at].node = node;
  }
  return (node_id){node};
}

bool stack_memo_is_interrupted(const struct stack_memo *memo, uint32_t frame) {
  return memo->arrays->infos[frame].odd & MEMO_INTERRUPTED;
}

// The site of a known path, without the stack's frames; 0: it may be new.
static site_id path_site(struct stack_memo *memo, struct memo_path *path, uint64_t key, int slot) {
  if (likely(path->site_key == key)) return path->site;
  site_id site = site_known(key, memo->sites[slot]);
  if (!site.value) return site;
  path->site_key = key;
  return path->site = site;
}

HT_NOINLINE site_id stack_memo_site_other(struct stack_memo *memo, struct hook_frame frame, uint64_t beside,
                                          enum ht_kind kind, uint32_t line_node) {
  if (unlikely(!memo->arrays) && !memo_allocate(memo)) return site_reserved(SITE_OVERFLOW + kind);
  int slot = kind != HT_KIND_HEAP;
  struct memo_path *path = stack_path_find(memo, frame);
  if (path) {
    site_id site = path_site(memo, path, path->hash + beside, slot);
    if (likely(site.value)) return memo->path = path, site;
  }
  memo->path = NULL;
  uint64_t key = memo_walk(memo, frame) + beside;
  struct node_request request = {memo, line_node};
  memo->sites[slot] = site_find(key, kind, memo->sites[slot], memo_node, &request);
  memo->site_keys[slot] = key;
  return memo->sites[slot];
}

uint32_t stack_memo_frames(const struct stack_memo *memo, uintptr_t *return_addresses, uint32_t capacity) {
  const struct memo_path *path = memo->path;
  uint32_t written = 0, outside = path ? path->joint : memo->count;
  if (path) return_addresses[written++] = path->value;
  for (uint32_t i = 0; path && i < path->frames && written < capacity; i++)
    return_addresses[written++] = path->word[i].value;
  for (uint32_t i = outside; i-- > (path ? 0 : memo->window_start) && written < capacity;)
    if (memo->frames[i].value >= 4096) return_addresses[written++] = memo->frames[i].value;
  return written;
}
