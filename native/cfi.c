#include "cfi.h"

#include <string.h>

typedef const uint8_t *bytes;

// DWARF register numbers on x86-64 (ABI table 3.36).
enum { REG_RBP = 6, REG_RSP = 7, REG_RETURN = 16, REG_CFA = 100 };

// ---- reading

#define READ_AS(type, at)                                                                                              \
  ({                                                                                                                   \
    type value_;                                                                                                       \
    memcpy(&value_, (at), sizeof value_);                                                                              \
    value_;                                                                                                            \
  })

static uint64_t read_uleb(bytes *at) {
  uint64_t value = 0;
  int shift = 0;
  uint8_t byte;
  do {
    byte = *(*at)++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  return value;
}

static int64_t read_sleb(bytes *at) {
  uint64_t value = 0;
  int shift = 0;
  uint8_t byte;
  do {
    byte = *(*at)++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (shift < 64 && (byte & 0x40)) value |= ~0ull << shift;
  return (int64_t)value;
}

// Pointer encodings, LSB 10.5.1: low four bits the format, next three what it is relative to, 0x80 indirect.
static uint64_t read_encoded(bytes *at, int encoding, uint64_t data_base, bool *ok) {
  uint64_t place = (uint64_t)*at, value = 0;
  if (encoding == 0xff) return 0;
  switch (encoding & 0xf) {
  case 0x0:
  case 0x4:
  case 0xc:
    value = READ_AS(uint64_t, *at), *at += 8;
    break;
  case 0x3:
    value = READ_AS(uint32_t, *at), *at += 4;
    break;
  case 0xb:
    value = (uint64_t)(int64_t)READ_AS(int32_t, *at), *at += 4;
    break;
  case 0x2:
    value = READ_AS(uint16_t, *at), *at += 2;
    break;
  case 0xa:
    value = (uint64_t)(int64_t)READ_AS(int16_t, *at), *at += 2;
    break;
  case 0x1:
    value = read_uleb(at);
    break;
  case 0x9:
    value = (uint64_t)read_sleb(at);
    break;
  default:
    *ok = false;
    return 0;
  }
  if (!value) return 0;
  switch (encoding & 0x70) {
  case 0x00:
    break;
  case 0x10:
    value += place;
    break;
  case 0x30:
    value += data_base;
    break;
  default:
    *ok = false;
    return 0;
  }
  return encoding & 0x80 ? READ_AS(uint64_t, (bytes)value) : value;
}

// ---- common information entries

struct cie {
  bytes instructions, end;
  uint64_t code_align;
  int64_t data_align;
  int pointer_encoding;
  bool signal_frame, augmented;
};

static void cie_augmentation(const char *letters, bytes at, uint64_t data_base, struct cie *cie) {
  bool ok = true;
  for (; *letters && ok; letters++) {
    if (*letters == 'R')
      cie->pointer_encoding = *at++;
    else if (*letters == 'P') {
      int encoding = *at++;
      read_encoded(&at, encoding & 0x7f, data_base, &ok);
    } else if (*letters == 'L')
      at++;
    else if (*letters == 'S')
      cie->signal_frame = true;
    else if (*letters != 'B' && *letters != 'G')
      return;
  }
}

static bool cie_parse(bytes at, uint64_t data_base, struct cie *cie) {
  *cie = (struct cie){0};
  uint32_t length = READ_AS(uint32_t, at);
  if (length == 0 || length == 0xffffffff) return false; // 64-bit entries do not occur in .eh_frame_hdr tables
  at += 4;
  cie->end = at + length;
  if (READ_AS(uint32_t, at) != 0) return false;
  int version = at[4];
  const char *augmentation = (const char *)at + 5;
  at += 5 + strlen(augmentation) + 1;
  if (version == 4) at += 2; // address size, segment selector size
  cie->code_align = read_uleb(&at);
  cie->data_align = read_sleb(&at);
  uint64_t return_register = version == 1 ? *at++ : read_uleb(&at);
  if (augmentation[0] == 'z') {
    uint64_t bytes_of_it = read_uleb(&at);
    cie->augmented = true;
    cie_augmentation(augmentation + 1, at, data_base, cie);
    at += bytes_of_it;
  } else if (augmentation[0]) {
    return false;
  }
  cie->instructions = at;
  return return_register == REG_RETURN;
}

// ---- the table row for one address

enum rule_kind { RULE_UNSPECIFIED, RULE_SAME, RULE_UNDEFINED, RULE_OFFSET, RULE_EXPRESSION, RULE_OTHER };

struct register_rule {
  uint8_t kind;
  int64_t offset;
  bytes expression;
  uint64_t expression_bytes;
};

struct row {
  int cfa_register;
  int64_t cfa_offset;
  bytes cfa_expression;
  uint64_t cfa_expression_bytes;
  struct register_rule rbp, return_address, rsp, ignored;
};

static struct register_rule *row_register(struct row *row, uint64_t number) {
  switch (number) {
  case REG_RBP:
    return &row->rbp;
  case REG_RETURN:
    return &row->return_address;
  case REG_RSP:
    return &row->rsp;
  default:
    return &row->ignored;
  }
}

static void row_restore(struct row *row, struct row *initial, uint64_t number) {
  *row_register(row, number) =
      initial ? *row_register(initial, number) : (struct register_rule){.kind = RULE_UNSPECIFIED};
}

static void row_set(struct row *row, uint64_t number, uint8_t kind, int64_t offset) {
  *row_register(row, number) = (struct register_rule){.kind = kind, .offset = offset};
}

#define ROW_STACK 8 // nesting of DW_CFA_remember_state; compilers use one

struct machine {
  bytes at, end;
  const struct cie *cie;
  uint64_t location, pc;
  struct row row, *initial;
  struct row remembered[ROW_STACK];
  int remembered_count;
};

enum step { STEP_ON, STEP_PASSED, STEP_BAD };

// Instructions with an operand in the low six bits, and the location ones. DWARF 5 section 6.4.2.
static enum step machine_advance(struct machine *m, uint64_t delta) {
  m->location += delta * m->cie->code_align;
  return m->location > m->pc ? STEP_PASSED : STEP_ON;
}

static enum step machine_primary(struct machine *m, uint8_t op) {
  uint64_t number = op & 0x3f;
  switch (op >> 6) {
  case 1:
    return machine_advance(m, number); // advance_loc
  case 2:
    row_set(&m->row, number, RULE_OFFSET, (int64_t)read_uleb(&m->at) * m->cie->data_align);
    break; // offset
  default:
    row_restore(&m->row, m->initial, number);
    break; // restore
  }
  return STEP_ON;
}

static void machine_expression(struct machine *m, uint8_t kind) {
  uint64_t number = read_uleb(&m->at), length = read_uleb(&m->at);
  *row_register(&m->row, number) =
      (struct register_rule){.kind = kind, .expression = m->at, .expression_bytes = length};
  m->at += length;
}

static enum step machine_cfa(struct machine *m, uint8_t op) {
  struct row *row = &m->row;
  switch (op) {
  case 0x0c:
    row->cfa_register = (int)read_uleb(&m->at), row->cfa_offset = (int64_t)read_uleb(&m->at);
    break;
  case 0x0d:
    row->cfa_register = (int)read_uleb(&m->at);
    break;
  case 0x0e:
    row->cfa_offset = (int64_t)read_uleb(&m->at);
    return STEP_ON;
  case 0x12:
    row->cfa_register = (int)read_uleb(&m->at);
    row->cfa_offset = read_sleb(&m->at) * m->cie->data_align;
    break;
  case 0x13:
    row->cfa_offset = read_sleb(&m->at) * m->cie->data_align;
    return STEP_ON;
  default: // 0x0f def_cfa_expression
    row->cfa_expression_bytes = read_uleb(&m->at);
    row->cfa_expression = m->at;
    m->at += row->cfa_expression_bytes;
    return STEP_ON;
  }
  row->cfa_expression = NULL;
  return STEP_ON;
}

static enum step machine_register(struct machine *m, uint8_t op) {
  if (op == 0x10) return machine_expression(m, RULE_EXPRESSION), STEP_ON;
  if (op == 0x16) return machine_expression(m, RULE_OTHER), STEP_ON; // val_expression
  uint64_t number = read_uleb(&m->at);
  switch (op) {
  case 0x05:
    row_set(&m->row, number, RULE_OFFSET, (int64_t)read_uleb(&m->at) * m->cie->data_align);
    break;
  case 0x06:
    row_restore(&m->row, m->initial, number);
    break;
  case 0x07:
    row_set(&m->row, number, RULE_UNDEFINED, 0);
    break;
  case 0x08:
    row_set(&m->row, number, RULE_SAME, 0);
    break;
  case 0x11:
    row_set(&m->row, number, RULE_OFFSET, read_sleb(&m->at) * m->cie->data_align);
    break;
  case 0x2f:
    row_set(&m->row, number, RULE_OFFSET, -(int64_t)read_uleb(&m->at) * m->cie->data_align);
    break;
  default:
    row_set(&m->row, number, RULE_OTHER, 0), read_uleb(&m->at);
    break; // 0x09, 0x14, 0x15: register, val_offset
  }
  return STEP_ON;
}

static enum step machine_step(struct machine *m) {
  uint8_t op = *m->at++;
  if (op >> 6) return machine_primary(m, op);
  bool ok = true;
  switch (op) {
  case 0x00:
  case 0x2d:
    return STEP_ON; // nop, GNU_window_save
  case 0x01:
    m->location = read_encoded(&m->at, m->cie->pointer_encoding, 0, &ok);
    return !ok ? STEP_BAD : m->location > m->pc ? STEP_PASSED : STEP_ON;
  case 0x02:
    return machine_advance(m, *m->at++);
  case 0x03:
    m->at += 2;
    return machine_advance(m, READ_AS(uint16_t, m->at - 2));
  case 0x04:
    m->at += 4;
    return machine_advance(m, READ_AS(uint32_t, m->at - 4));
  case 0x0a:
    if (m->remembered_count == ROW_STACK) return STEP_BAD;
    m->remembered[m->remembered_count++] = m->row;
    return STEP_ON;
  case 0x0b: // restores the CFA as well, as GCC's unwinder and libunwind do
    if (!m->remembered_count) return STEP_BAD;
    m->row = m->remembered[--m->remembered_count];
    return STEP_ON;
  case 0x2e:
    read_uleb(&m->at);
    return STEP_ON; // GNU_args_size
  case 0x0c:
  case 0x0d:
  case 0x0e:
  case 0x0f:
  case 0x12:
  case 0x13:
    return machine_cfa(m, op);
  case 0x05:
  case 0x06:
  case 0x07:
  case 0x08:
  case 0x09:
  case 0x10:
  case 0x11:
  case 0x14:
  case 0x15:
  case 0x16:
  case 0x2f:
    return machine_register(m, op);
  default:
    return STEP_BAD;
  }
}

static bool machine_run(struct machine *m, bytes from, bytes to) {
  m->at = from;
  m->end = to;
  while (m->at < m->end) {
    enum step step = machine_step(m);
    if (step != STEP_ON) return step == STEP_PASSED;
  }
  return true;
}

// ---- expressions, worked out symbolically: only "register + offset" and "word at register + offset" matter

struct symbol {
  enum { SYMBOL_CONSTANT, SYMBOL_REGISTER, SYMBOL_WORD } kind;
  int reg;
  int64_t offset;       // constant, or added to the register
  int64_t after_offset; // added to the loaded word
};

#define SYMBOL_STACK 16

struct evaluation {
  struct symbol stack[SYMBOL_STACK];
  int count;
  uintptr_t pc;
};

static bool push_symbol(struct evaluation *e, int kind, int reg, int64_t offset) {
  if (e->count == SYMBOL_STACK) return false;
  e->stack[e->count++] = (struct symbol){.kind = kind, .reg = reg, .offset = offset};
  return true;
}

static bool push_register(struct evaluation *e, int reg, int64_t offset) {
  if (reg == REG_RETURN) return push_symbol(e, SYMBOL_CONSTANT, 0, (int64_t)e->pc + offset);
  return (reg == REG_RBP || reg == REG_RSP) && push_symbol(e, SYMBOL_REGISTER, reg, offset);
}

static void symbol_add(struct symbol *symbol, int64_t amount) {
  if (symbol->kind == SYMBOL_WORD)
    symbol->after_offset += amount;
  else
    symbol->offset += amount;
}

static bool constants_combine(uint8_t op, int64_t a, int64_t b, int64_t *result) {
  switch (op) {
  case 0x1a:
    *result = a & b;
    return true;
  case 0x21:
    *result = a | b;
    return true;
  case 0x24:
    *result = (int64_t)((uint64_t)a << (b & 63));
    return true;
  case 0x25:
    *result = (int64_t)((uint64_t)a >> (b & 63));
    return true;
  case 0x29:
    *result = a == b;
    return true;
  case 0x2a:
    *result = a >= b;
    return true;
  case 0x2b:
    *result = a > b;
    return true;
  case 0x2c:
    *result = a <= b;
    return true;
  case 0x2d:
    *result = a < b;
    return true;
  case 0x2e:
    *result = a != b;
    return true;
  default:
    return false;
  }
}

static bool evaluate_binary(struct evaluation *e, uint8_t op) {
  if (e->count < 2) return false;
  struct symbol b = e->stack[--e->count], *a = &e->stack[e->count - 1];
  if (op == 0x22 && a->kind == SYMBOL_CONSTANT) { // plus: the constant may stand on either side
    struct symbol constant = *a;
    *a = b;
    return symbol_add(a, constant.offset), true;
  }
  if (b.kind != SYMBOL_CONSTANT) return false;
  if (op == 0x22) return symbol_add(a, b.offset), true;
  if (op == 0x1c) return symbol_add(a, -b.offset), true;
  return a->kind == SYMBOL_CONSTANT && constants_combine(op, a->offset, b.offset, &a->offset);
}

static bool evaluate_unary(struct evaluation *e, uint8_t op, bytes *at) {
  if (e->count < 1) return false;
  struct symbol *top = &e->stack[e->count - 1];
  switch (op) {
  case 0x06: // deref
    if (top->kind != SYMBOL_REGISTER) return false;
    top->kind = SYMBOL_WORD;
    top->after_offset = 0;
    return true;
  case 0x12:
    return e->count < SYMBOL_STACK && (e->stack[e->count] = *top, e->count++, true); // dup
  case 0x13:
    return e->count--, true; // drop
  default:
    symbol_add(top, (int64_t)read_uleb(at));
    return true; // plus_uconst
  }
}

static bool evaluate_step(struct evaluation *e, bytes *at) {
  uint8_t op = *(*at)++;
  if (op >= 0x30 && op <= 0x4f) return push_symbol(e, SYMBOL_CONSTANT, 0, op - 0x30);
  if (op >= 0x70 && op <= 0x8f) return push_register(e, op - 0x70, read_sleb(at));
  switch (op) {
  case 0x08:
    *at += 1;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(uint8_t, *at - 1));
  case 0x09:
    *at += 1;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(int8_t, *at - 1));
  case 0x0a:
    *at += 2;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(uint16_t, *at - 2));
  case 0x0b:
    *at += 2;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(int16_t, *at - 2));
  case 0x0c:
    *at += 4;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(uint32_t, *at - 4));
  case 0x0d:
    *at += 4;
    return push_symbol(e, SYMBOL_CONSTANT, 0, READ_AS(int32_t, *at - 4));
  case 0x10:
    return push_symbol(e, SYMBOL_CONSTANT, 0, (int64_t)read_uleb(at));
  case 0x11:
    return push_symbol(e, SYMBOL_CONSTANT, 0, read_sleb(at));
  case 0x96:
    return true; // nop
  case 0x06:
  case 0x12:
  case 0x13:
  case 0x23:
    return evaluate_unary(e, op, at);
  default:
    return evaluate_binary(e, op);
  }
}

static bool evaluate(bytes at, uint64_t length, uintptr_t pc, bool from_cfa, struct symbol *result) {
  struct evaluation e = {.pc = pc};
  if (from_cfa) push_symbol(&e, SYMBOL_REGISTER, REG_CFA, 0);
  for (bytes end = at + length; at < end;)
    if (!evaluate_step(&e, &at)) return false;
  if (e.count < 1) return false;
  *result = e.stack[e.count - 1];
  return true;
}

// ---- from the row to a rule

static bool rule_cfa(const struct row *row, uintptr_t pc, struct cfi_rule *rule) {
  int reg = row->cfa_register;
  int64_t offset = row->cfa_offset;
  if (row->cfa_expression) {
    struct symbol value;
    // The pc matters only for interrupted PLT frames, and those are looked up by their exact pc.
    if (!evaluate(row->cfa_expression, row->cfa_expression_bytes, pc, false, &value)) return false;
    if (value.kind == SYMBOL_CONSTANT || value.after_offset) return false;
    reg = value.reg;
    offset = value.offset;
    rule->cfa_indirect = value.kind == SYMBOL_WORD;
  }
  if (reg != REG_RBP && reg != REG_RSP) return false;
  rule->cfa_from_rbp = reg == REG_RBP;
  rule->cfa_offset = (int32_t)offset;
  return offset == (int32_t)offset;
}

// Where a register was saved: relative to the CFA, or by an expression to a register.
static bool rule_saved(const struct register_rule *saved, uintptr_t pc, uint8_t *base, int32_t *offset_out) {
  int64_t offset = saved->offset;
  *base = CFI_AT_CFA;
  if (saved->kind == RULE_EXPRESSION) {
    struct symbol value;
    if (!evaluate(saved->expression, saved->expression_bytes, pc, true, &value)) return false;
    if (value.kind != SYMBOL_REGISTER) return false;
    *base = value.reg == REG_CFA ? CFI_AT_CFA : value.reg == REG_RSP ? CFI_AT_RSP : CFI_AT_RBP;
    offset = value.offset;
  } else if (saved->kind != RULE_OFFSET) {
    return false;
  }
  *offset_out = (int32_t)offset;
  return offset == (int32_t)offset;
}

// The caller's rsp must be the CFA; glibc's signal frame says so with an expression of its own.
static bool rule_rsp_is_cfa(const struct row *row, uintptr_t pc, const struct cfi_rule *rule) {
  if (row->rsp.kind != RULE_EXPRESSION) return row->rsp.kind <= RULE_SAME;
  struct symbol value;
  return evaluate(row->rsp.expression, row->rsp.expression_bytes, pc, true, &value) && value.kind == SYMBOL_REGISTER &&
         rule->cfa_indirect && value.reg == (rule->cfa_from_rbp ? REG_RBP : REG_RSP) &&
         value.offset == rule->cfa_offset;
}

static struct cfi_rule rule_of_row(const struct row *row, uintptr_t pc, bool signal_frame) {
  struct cfi_rule rule = {.kind = CFI_UNKNOWN, .signal_frame = signal_frame};
  if (row->return_address.kind == RULE_UNDEFINED) return (struct cfi_rule){.kind = CFI_END};
  if (!rule_cfa(row, pc, &rule)) return rule;
  if (row->rbp.kind > RULE_UNDEFINED && !rule_saved(&row->rbp, pc, &rule.rbp_base, &rule.rbp_offset)) return rule;
  if (!rule_saved(&row->return_address, pc, &rule.return_base, &rule.return_offset)) return rule;
  if (!rule_rsp_is_cfa(row, pc, &rule)) return rule;
  bool plain = !signal_frame && !rule.cfa_indirect && rule.rbp_base <= CFI_AT_CFA && rule.return_base == CFI_AT_CFA &&
               rule.return_offset == -8;
  rule.kind = plain ? CFI_PLAIN : CFI_GENERAL;
  return rule;
}

// ---- finding the entry

// The frame description entry that covers `pc`, by the binary search table (LSB 10.6.2); NULL: none.
static bytes entry_find(uintptr_t pc, bytes header, bool *usable) {
  bool ok = true;
  bytes at = header + 4;
  *usable = false;
  if (header[0] != 1) return NULL;
  read_encoded(&at, header[1], (uint64_t)header, &ok);
  if (header[2] == 0xff || header[3] != 0x3b || !ok) return NULL; // 0x3b: signed 4 bytes, relative to the header
  uint64_t count = read_encoded(&at, header[2], (uint64_t)header, &ok);
  *usable = true;
  const int32_t *table = (const int32_t *)at;
  int64_t wanted = (int64_t)pc - (int64_t)header;
  if (count == 0 || wanted < table[0]) return NULL;
  uint64_t low = 0, high = count;
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    if (table[2 * middle] <= wanted)
      low = middle;
    else
      high = middle;
  }
  return header + table[2 * low + 1];
}

enum entry_result { ENTRY_GOOD, ENTRY_NONE, ENTRY_UNKNOWN };
struct entry {
  struct cie cie;
  uint64_t begin, range; // the code it covers
  bytes at, end;         // what follows
};

// The entry that covers `pc`, read up to the code's range.
static enum entry_result entry_read(uintptr_t pc, const void *eh_frame_hdr, struct entry *entry) {
  if (!eh_frame_hdr) return ENTRY_NONE;
  bool usable, ok = true;
  bytes found = entry_find(pc, eh_frame_hdr, &usable);
  if (!usable) return ENTRY_UNKNOWN;
  if (!found) return ENTRY_NONE;
  uint32_t length = READ_AS(uint32_t, found);
  if (length == 0 || length == 0xffffffff) return ENTRY_UNKNOWN;
  bytes at = found + 4;
  entry->end = at + length;
  if (!cie_parse(at - READ_AS(int32_t, at), (uint64_t)eh_frame_hdr, &entry->cie)) return ENTRY_UNKNOWN;
  at += 4;
  entry->begin = read_encoded(&at, entry->cie.pointer_encoding, (uint64_t)eh_frame_hdr, &ok);
  entry->range = read_encoded(&at, entry->cie.pointer_encoding & 0xf, 0, &ok);
  entry->at = at;
  if (!ok) return ENTRY_UNKNOWN;
  return pc < entry->begin || pc >= entry->begin + entry->range ? ENTRY_NONE : ENTRY_GOOD;
}

struct cfi_rule cfi_rule_at(uintptr_t pc, const void *eh_frame_hdr) {
  const struct cfi_rule none = {.kind = CFI_NO_INFO}, unknown = {.kind = CFI_UNKNOWN};
  struct entry entry;
  enum entry_result result = entry_read(pc, eh_frame_hdr, &entry);
  if (result != ENTRY_GOOD) return result == ENTRY_NONE ? none : unknown;
  const struct cie *cie = &entry.cie;
  bytes at = entry.at;
  if (cie->augmented) {
    uint64_t skip = read_uleb(&at);
    at += skip;
  }
  struct machine machine = {.cie = cie, .pc = UINT64_MAX, .row = {.cfa_register = -1}};
  if (!machine_run(&machine, cie->instructions, cie->end)) return unknown;
  struct row initial = machine.row;
  machine.initial = &initial;
  machine.location = entry.begin;
  machine.pc = pc;
  if (!machine_run(&machine, at, entry.end)) return unknown;
  return rule_of_row(&machine.row, pc, cie->signal_frame);
}

bool cfi_function_at(uintptr_t pc, const void *eh_frame_hdr, uintptr_t *start, uintptr_t *end) {
  struct entry entry;
  if (entry_read(pc, eh_frame_hdr, &entry) != ENTRY_GOOD) return false;
  *start = entry.begin;
  *end = entry.begin + entry.range;
  return true;
}
