// sources: native/epilogue.c native/sys.c native/lock.c
#include "../../native/epilogue.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int failures;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
  } while (0)

static uint8_t *page;

// With the code at `offset` of a page behind which nothing can be read.
static bool rule_of(const uint8_t *code, size_t bytes, size_t offset, struct cfi_rule *rule) {
  memset(rule, 0, sizeof *rule);
  memset(page, 0x90, 4096);
  memcpy(page + offset, code, bytes);
  return epilogue_rule((uintptr_t)page + offset, rule);
}
#define RULE_AT(offset, ...) rule_of((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), offset, &rule)

static void test_what_returns(void) {
  struct cfi_rule rule;
  CHECK(RULE_AT(0, 0x48, 0x83, 0xc4, 0x08, 0xc3)); // add rsp, 8; ret
  CHECK(rule.kind == CFI_PLAIN && rule.cfa_offset == 16 && rule.rbp_base == CFI_SAME && rule.return_offset == -8);
  CHECK(RULE_AT(0, 0x48, 0x83, 0xc4, 0x30, 0x5d, 0xc3)); // add rsp, 48; pop rbp; ret
  CHECK(rule.cfa_offset == 64 && rule.rbp_base == CFI_AT_CFA && rule.rbp_offset == -16);
  CHECK(RULE_AT(0, 0x48, 0x81, 0xc4, 0x00, 0x10, 0, 0, 0x5b, 0x5d, 0x41, 0x5c, 0xc3)); // 4096; rbx, rbp, r12
  CHECK(rule.cfa_offset == 4096 + 32 && rule.rbp_offset == 4096 + 8 - rule.cfa_offset);
  CHECK(RULE_AT(0, 0x41, 0x5d, 0xc3)); // pop r13: not rbp
  CHECK(rule.cfa_offset == 16 && rule.rbp_base == CFI_SAME);
  CHECK(RULE_AT(4095, 0xc3) && rule.cfa_offset == 8); // the last byte that can be read
}

static void test_what_does_not(void) {
  struct cfi_rule rule;
  CHECK(!RULE_AT(0, 0x48, 0x89, 0xc7, 0xc3));       // mov rdi, rax: goes on
  CHECK(!RULE_AT(0, 0x48, 0x83, 0xc4, 0xf8, 0xc3)); // add rsp, -8
  CHECK(!RULE_AT(0, 0x48, 0x83, 0xc4, 0x09, 0xc3)); // no multiple of 8
  CHECK(!RULE_AT(0, 0x5c, 0xc3));                   // pop rsp
  CHECK(!RULE_AT(4092, 0x48, 0x83, 0xc4, 0x08));    // cut by the page's end
  CHECK(!RULE_AT(4094, 0x48, 0x83) && !RULE_AT(4095, 0x41));
  memset(&rule, 0, sizeof rule);
  CHECK(!epilogue_rule((uintptr_t)page + 4096, &rule) && rule.kind == CFI_NONE); // nothing is there
}

int main(void) {
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE) != 0) return 1;
  test_what_returns();
  test_what_does_not();
  return failures != 0;
}
