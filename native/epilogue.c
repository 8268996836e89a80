#include "epilogue.h"

#include <string.h>

#include "sys.h"

// Intel SDM volume 2: ADD r/m64, imm8 or imm32 with rsp; POP r64, with REX.B for r8 to r15; RET.
static const uint8_t add_short[] = {0x48, 0x83, 0xc4}, add_long[] = {0x48, 0x81, 0xc4};
#define POP 0x58
#define POP_RSP 0x5c // no epilogue's
#define POP_RBP 0x5d
#define REX_B 0x41
#define RET 0xc3

#define CODE_MAX 24u // an addition, six pops, and the return

// What can be read of the code; not beyond its page.
static size_t code_read(uintptr_t address, uint8_t *code) {
  size_t bytes = 4096 - (address & 4095);
  if (bytes > CODE_MAX) bytes = CODE_MAX;
  if (!sys_readable(address)) return 0;
  memcpy(code, (const void *)address, bytes);
  return bytes;
}

// `*at` moves behind an addition to rsp; the bytes added.
static int32_t addition_take(const uint8_t *code, size_t bytes, size_t *at) {
  int32_t wide;
  if (bytes >= 4 && memcmp(code, add_short, sizeof add_short) == 0) return *at = 4, (int8_t)code[3];
  if (bytes < 7 || memcmp(code, add_long, sizeof add_long) != 0) return 0;
  memcpy(&wide, code + sizeof add_long, sizeof wide);
  return *at = 7, wide;
}

bool epilogue_rule(uintptr_t return_address, struct cfi_rule *rule) {
  uint8_t code[CODE_MAX];
  size_t bytes = code_read(return_address, code), at = 0;
  int32_t depth = addition_take(code, bytes, &at), rbp_at = -1;
  if (depth < 0 || depth % 8) return false;
  for (; at < bytes; depth += 8) {
    bool extended = code[at] == REX_B && at + 1 < bytes;
    uint8_t pop = code[at + extended];
    if ((pop & ~7) != POP || (pop == POP_RSP && !extended)) break;
    if (pop == POP_RBP && !extended) rbp_at = depth;
    at += 1u + extended;
  }
  if (at >= bytes || code[at] != RET) return false;
  rule->kind = CFI_PLAIN;
  rule->cfa_offset = depth + 8;
  rule->return_base = CFI_AT_CFA;
  rule->return_offset = -8;
  rule->rbp_base = rbp_at >= 0 ? CFI_AT_CFA : CFI_SAME;
  rule->rbp_offset = rbp_at >= 0 ? rbp_at - rule->cfa_offset : 0;
  return true;
}
