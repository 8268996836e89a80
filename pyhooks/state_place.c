#include "state_place.h"

#include <link.h>
#include <string.h>

enum state_place_kind state_place_kind = STATE_ASKED;
uintptr_t state_place;

// ---- machine code of the getter, as gcc and clang write it (Intel SDM; ELF Handling For Thread-Local Storage, 4.4)

struct reader {
  const uint8_t *at;
};

static bool take(struct reader *reader, const char *bytes, size_t count) {
  if (memcmp(reader->at, bytes, count) != 0) return false;
  reader->at += count;
  return true;
}
#define TAKE(reader, bytes) take(reader, bytes, sizeof bytes - 1)

static int32_t take_32(struct reader *reader) {
  int32_t value;
  memcpy(&value, reader->at, sizeof value);
  reader->at += sizeof value;
  return value;
}

// Of a 32-bit displacement from what follows it.
static uintptr_t take_relative(struct reader *reader) {
  intptr_t displacement = take_32(reader);
  return (uintptr_t)reader->at + (uintptr_t)displacement;
}

// mov displacement(%rax),%rax
static bool take_load(struct reader *reader, intptr_t *displacement) {
  *displacement = 0;
  if (TAKE(reader, "\x48\x8b\x00")) return true;
  if (TAKE(reader, "\x48\x8b\x40")) return *displacement = (int8_t)*reader->at++, true;
  return TAKE(reader, "\x48\x8b\x80") && (*displacement = take_32(reader), true);
}

// lea ti(%rip),%rdi; call __tls_get_addr; mov displacement(%rax),%rax
static enum state_place_kind decode_dynamic(struct reader *reader, intptr_t (*thread_offset)(const size_t *),
                                            uintptr_t *place) {
  bool general = TAKE(reader, "\x66\x48\x8d\x3d"); // or the local dynamic model
  if (!general && !TAKE(reader, "\x48\x8d\x3d")) return STATE_ASKED;
  intptr_t displacement, offset = thread_offset((const size_t *)take_relative(reader));
  // A call through the PLT, or through the global offset table.
  if (!TAKE(reader, "\x66\x66\x48\xe8") && !TAKE(reader, "\x66\x48\xff\x15") && !TAKE(reader, "\xe8")) {
    if (general || !TAKE(reader, "\xff\x15")) return STATE_ASKED;
  }
  take_32(reader);
  if (!offset || !take_load(reader, &displacement)) return STATE_ASKED;
  *place = (uintptr_t)(offset + displacement);
  return STATE_IN_THREAD;
}

static enum state_place_kind decode_load(struct reader *reader, intptr_t (*thread_offset)(const size_t *),
                                         uintptr_t *place) {
  intptr_t displacement;
  if (TAKE(reader, "\x64\x48\x8b\x04\x25")) { // mov %fs:offset,%rax
    *place = (uintptr_t)(intptr_t)take_32(reader);
    return STATE_IN_THREAD;
  }
  if (!TAKE(reader, "\x48\x8b\x05")) return decode_dynamic(reader, thread_offset, place);
  uintptr_t variable = take_relative(reader); // mov variable(%rip),%rax
  if (TAKE(reader, "\x64\x48\x8b\x00")) {     // mov %fs:(%rax),%rax
    *place = *(const uintptr_t *)variable;
    return STATE_IN_THREAD;
  }
  *place = variable;
  if (take_load(reader, &displacement)) *place = *(const uintptr_t *)variable + (uintptr_t)displacement;
  return STATE_IN_MEMORY;
}

enum state_place_kind state_place_decode(const uint8_t *code, intptr_t (*thread_offset)(const size_t *),
                                         uintptr_t *place) {
  struct reader reader = {code};
  TAKE(&reader, "\xf3\x0f\x1e\xfa");                // endbr64
  bool framed = TAKE(&reader, "\x55\x48\x89\xe5");  // push %rbp; mov %rsp,%rbp
  bool aligned = TAKE(&reader, "\x48\x83\xec\x08"); // sub $8,%rsp
  bool pushed = !framed && TAKE(&reader, "\x50");   // push %rax, clang's way
  enum state_place_kind kind = decode_load(&reader, thread_offset, place);
  if (kind == STATE_ASKED) return STATE_ASKED;
  if (aligned && !TAKE(&reader, "\x48\x83\xc4\x08")) return STATE_ASKED;
  if (pushed && !TAKE(&reader, "\x59")) return STATE_ASKED; // pop %rcx
  if (framed && !TAKE(&reader, "\x5d")) return STATE_ASKED;
  return TAKE(&reader, "\xc3") ? kind : STATE_ASKED;
}

// ---- where a module's thread-local storage is

static char *thread_pointer(void) {
  char *value;
  __asm__("mov %%fs:0, %0" : "=r"(value)); // tcbhead_t.tcb
  return value;
}

struct tls_search {
  const size_t *index; // tls_index: module, offset
  intptr_t offset;
};

static int tls_visit(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct tls_search *search = context;
  if (info->dlpi_tls_modid != search->index[0] || !info->dlpi_tls_data) return 0;
  search->offset = (char *)info->dlpi_tls_data + search->index[1] - thread_pointer();
  return 1;
}

static intptr_t offset_of_index(const size_t *tls_index) {
  struct tls_search search = {tls_index, 0};
  dl_iterate_phdr(tls_visit, &search);
  return search.offset;
}

void state_place_find(void) {
  const uint8_t *code;
  memcpy(&code, &python.thread_state, sizeof code);
  state_place_kind = state_place_decode(code, offset_of_index, &state_place);
  state_place_check();
}

bool state_place_check(void) {
  if (likely(state_anywhere() == python.thread_state())) return true;
  state_place_kind = STATE_ASKED;
  return false;
}
