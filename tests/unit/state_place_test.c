// sources: pyhooks/state_place.c
// The getter of the running thread's state, in the forms that compilers give it; and code that is none of them.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "state_place.h"

struct python_api python;

static struct {
  uint8_t code[64];
  uintptr_t word; // right behind: what the code's displacements lead to
} image;

static const size_t *asked_index;
static intptr_t known_offset;

static intptr_t thread_offset(const size_t *tls_index) {
  asked_index = tls_index;
  return known_offset;
}

// The kind of `bytes`, where "@@@@" stands for the displacement from its own end to image.word.
static enum state_place_kind decode(const char *bytes, size_t count, uintptr_t *place) {
  memset(image.code, 0xcc, sizeof image.code);
  memcpy(image.code, bytes, count);
  for (size_t i = 0; i + 4 <= count; i++) {
    if (memcmp(bytes + i, "@@@@", 4) != 0) continue;
    int32_t displacement = (int32_t)((uint8_t *)&image.word - (image.code + i + 4));
    memcpy(image.code + i, &displacement, sizeof displacement);
  }
  *place = 0;
  return state_place_decode(image.code, thread_offset, place);
}
#define DECODE(bytes) decode(bytes, sizeof bytes - 1, &place)

#define LOAD_GOT "\x48\x8b\x05@@@@"
#define DYNAMIC "\x66\x48\x8d\x3d@@@@\x66\x66\x48\xe8\x01\x02\x03\x04"

static void in_memory(void) {
  uintptr_t place;
  image.word = 0x1000;
  assert(DECODE(LOAD_GOT "\x48\x8b\x80\x40\x02\x00\x00\xc3") == STATE_IN_MEMORY && place == 0x1240); // 3.11, shared
  assert(DECODE("\xf3\x0f\x1e\xfa" LOAD_GOT "\x48\x8b\x40\x40\xc3") == STATE_IN_MEMORY && place == 0x1040);
  assert(DECODE(LOAD_GOT "\xc3") == STATE_IN_MEMORY && place == (uintptr_t)&image.word); // in the executable
  assert(DECODE("\x55\x48\x89\xe5" LOAD_GOT "\x5d\xc3") == STATE_IN_MEMORY && place == (uintptr_t)&image.word);
}

static void in_thread(void) {
  uintptr_t place;
  image.word = (uintptr_t)-40;
  assert(DECODE(LOAD_GOT "\x64\x48\x8b\x00\xc3") == STATE_IN_THREAD && place == (uintptr_t)-40);
  assert(DECODE("\x64\x48\x8b\x04\x25\xf8\xff\xff\xff\xc3") == STATE_IN_THREAD && place == (uintptr_t)-8);
  known_offset = -64;
  assert(DECODE("\x48\x83\xec\x08" DYNAMIC "\x48\x8b\x00\x48\x83\xc4\x08\xc3") == STATE_IN_THREAD); // 3.12, shared
  assert(place == (uintptr_t)-64 && asked_index == (const size_t *)&image.word);
  assert(DECODE("\x50" DYNAMIC "\x48\x8b\x40\x10\x59\xc3") == STATE_IN_THREAD && place == (uintptr_t)-48);
  known_offset = 0;
  assert(DECODE("\x48\x83\xec\x08" DYNAMIC "\x48\x8b\x00\x48\x83\xc4\x08\xc3") == STATE_ASKED);
}

static void unknown(void) {
  uintptr_t place;
  image.word = 0x1000;
  assert(DECODE("\xc3") == STATE_ASKED);
  assert(DECODE(LOAD_GOT "\x90\xc3") == STATE_ASKED);                                    // more happens
  assert(DECODE(LOAD_GOT "\x48\x8b\x00\x48\x8b\x00\xc3") == STATE_ASKED);                // one load more
  assert(DECODE("\x48\x83\xec\x08" LOAD_GOT "\xc3") == STATE_ASKED);                     // the stack stays moved
  assert(DECODE("\x64\x48\x8b\x04\x25\xf8\xff\xff\xff\x48\x8b\x00\xc3") == STATE_ASKED); // what it leads to
}

static void *variable_value;
static void *ask(void) { return variable_value; }

static void found(void) {
  python.thread_state = ask;
  variable_value = &image;
  state_place_find(); // whatever the compiler made of `ask`
  assert(state_anywhere() == &image && state_place_check());
  state_place_kind = STATE_IN_MEMORY;
  state_place = (uintptr_t)&image.word;
  image.word = 0;
  assert(!state_place_check() && state_place_kind == STATE_ASKED && state_anywhere() == &image);
}

int main(void) {
  in_memory();
  in_thread();
  unknown();
  found();
  puts("state place: ok");
  return 0;
}
