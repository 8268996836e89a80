// Unwind rules from .eh_frame: how to get from one frame to the next one out, for one address of code.
//
// Only what finding return addresses needs is kept: the canonical frame address (CFA), where the return address and
// the caller's rbp are saved. Sources: DWARF 5 section 6.4, System V ABI AMD64 1.0 section 3.7 and table 3.36,
// Linux Standard Base 5.0 chapter 10.6 (.eh_frame, .eh_frame_hdr).
#ifndef HT_CFI_H
#define HT_CFI_H

#include "words.h"

enum cfi_kind {
  CFI_NONE,    // no rule was looked up yet
  CFI_PLAIN,   // CFA = base + cfa_offset, return address at CFA - 8, rbp kept or saved at CFA + rbp_offset
  CFI_GENERAL, // anything else that can be written as below (signal frames, realigned stacks, PLT)
  CFI_END,     // the outermost frame: the return address is undefined
  CFI_NO_INFO, // no unwind information covers the address: guess by frame pointer
  CFI_UNKNOWN, // there is information that this reader cannot express
};

// What an offset is relative to.
enum cfi_base { CFI_SAME, CFI_AT_CFA, CFI_AT_RSP, CFI_AT_RBP };

struct cfi_rule {
  uint8_t kind;        // enum cfi_kind
  bool signal_frame;   // the frame was interrupted: its caller's address is exact, not after a call
  bool cfa_from_rbp;   // CFA = rbp + cfa_offset, else rsp + cfa_offset
  bool cfa_indirect;   // the CFA is the word stored there
  uint8_t rbp_base;    // enum cfi_base; CFI_SAME: the caller's rbp is in rbp
  uint8_t return_base; // CFI_AT_CFA, CFI_AT_RSP or CFI_AT_RBP
  int32_t cfa_offset, rbp_offset, return_offset;
};

// The rule for the instruction at `pc`, by the table at `eh_frame_hdr` of the module that holds it.
struct cfi_rule cfi_rule_at(uintptr_t pc, const void *eh_frame_hdr);

// The code of the function that holds `pc`: [*start, *end), as one entry of that table has it. False: none does.
bool cfi_function_at(uintptr_t pc, const void *eh_frame_hdr, uintptr_t *start, uintptr_t *end);

#endif
