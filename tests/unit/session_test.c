// sources: native/session.c native/text.c
// What goes into HEAPTIDE_SESSION comes out the same, and damage is noticed.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "text.h"

static void numbers_are_formatted(void) {
  char buffer[64];
  struct text text;
  text_start(&text, buffer, sizeof buffer);
  text_add_decimal(&text, 0);
  text_add(&text, " ");
  text_add_decimal(&text, UINT64_MAX);
  text_add(&text, " ");
  text_add_hex(&text, 0xdeadbeef);
  assert(strcmp(buffer, "0 18446744073709551615 deadbeef") == 0);
  assert(!text.cut && text.length == strlen(buffer));
}

static void a_full_text_is_cut_and_says_so(void) {
  char buffer[5];
  struct text text;
  text_start(&text, buffer, sizeof buffer);
  text_add(&text, "1234");
  assert(!text.cut);
  text_add(&text, "5");
  assert(text.cut && strcmp(buffer, "1234") == 0);
}

static void every_byte_survives_escaping(void) {
  char all[256], escaped[3 * 256 + 1], back[256];
  for (int byte = 1; byte < 256; byte++) all[byte - 1] = (char)byte;
  all[255] = 0;
  struct text text;
  text_start(&text, escaped, sizeof escaped);
  text_add_escaped(&text, all);
  assert(!text.cut && !strpbrk(escaped, "; \n\t"));
  assert(text_unescape(escaped, text.length, back, sizeof back) && strcmp(all, back) == 0);
  assert(!text_unescape(escaped, text.length, back, sizeof back - 1));
  assert(!text_unescape("%4", 2, back, sizeof back));
  assert(!text_unescape("%zz", 3, back, sizeof back));
  assert(!text_unescape("%00", 3, back, sizeof back));
}

static void numbers_are_read_strictly(void) {
  uint64_t value;
  assert(text_decimal("18446744073709551615", 20, &value) && value == UINT64_MAX);
  assert(!text_decimal("18446744073709551616", 20, &value));
  assert(!text_decimal("", 0, &value) && !text_decimal("-1", 2, &value) && !text_decimal("1 ", 2, &value));
}

static void sessions_round_trip(void) {
  static struct session before, after;
  static char value[SESSION_FORMAT_BYTES];
  session_default(&before);
  assert(before.depth == 64 && before.every_ms == 100 && before.children == 1);
  before.depth = 9;
  before.children = 0;
  before.main_pid = 4711;
  strcpy(before.out, "/tmp/a b;c=%d\n\xc3\xbc");
  strcpy(before.only, "cc1,ld");
  assert(session_format(&before, value, sizeof value) == strlen(value));
  assert(session_parse(value, &after) && memcmp(&before, &after, sizeof before) == 0);
  assert(session_format(&before, value, 10) == 0);
}

static void the_longest_session_fits(void) {
  static struct session before, after;
  static char value[SESSION_FORMAT_BYTES];
  memset(&before, 0xff, sizeof before);
  memset(before.only, '%', sizeof before.only - 1);
  memset(before.library, ' ', sizeof before.library - 1);
  memset(before.out, ';', sizeof before.out - 1);
  before.only[sizeof before.only - 1] = before.library[sizeof before.library - 1] = before.out[sizeof before.out - 1] =
      0;
  assert(session_format(&before, value, sizeof value) > 0);
  assert(session_parse(value, &after) && memcmp(&before, &after, sizeof before) == 0);
}

static void damage_is_noticed(void) {
  static struct session session;
  assert(session_parse("", &session) && session.depth == 64);
  assert(session_parse("future=1;depth=3;depth=5", &session) && session.depth == 5);
  assert(!session_parse("depth", &session));
  assert(!session_parse("depth=;", &session));
  assert(!session_parse("depth=1x;", &session));
  assert(!session_parse("out=%;", &session));
}

static void images_belong_to_their_pid(void) {
  static struct session session;
  assert(session_parse("image=3;image_pid=12;", &session));
  assert(session_image(&session, 12) == 3 && session_image(&session, 13) == 0);
}

static void only_matches_base_names(void) {
  static struct session session;
  session_default(&session);
  assert(session_only_matches(&session, "/usr/bin/anything"));
  strcpy(session.only, "cc1,ld");
  assert(session_only_matches(&session, "/usr/libexec/cc1") && session_only_matches(&session, "ld"));
  assert(!session_only_matches(&session, "/usr/bin/cc1plus") && !session_only_matches(&session, "/cc1/l"));
}

int main(void) {
  numbers_are_formatted();
  a_full_text_is_cut_and_says_so();
  every_byte_survives_escaping();
  numbers_are_read_strictly();
  sessions_round_trip();
  the_longest_session_fits();
  damage_is_noticed();
  images_belong_to_their_pid();
  only_matches_base_names();
  puts("session: ok");
  return 0;
}
