// sources: native/text.c
// A text cut at any byte is left with whole characters.
#include "../../native/text.h"

#include <string.h>

#include "expect.h"

static size_t whole(const char *text, size_t count) { return text_whole_characters(text, count); }

static void cuts(void) {
  static const char text[] = "aü線🧵b"; // 1, 2, 3, 4 and 1 bytes
  static const size_t left[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  EXPECT(sizeof text - 1 == 11);
  for (size_t count = 0; count <= 11; count++) EXPECT(whole(text, count) == left[count]);
}

// What is no UTF-8 stays for readers to mark, but for a byte that may begin a character.
static void other_bytes(void) {
  EXPECT(whole("\xbc\xbc\xbc", 3) == 3);
  EXPECT(whole("a\xbc\xbc", 3) == 3);
  EXPECT(whole("ab\xfc", 3) == 2);
}

int main(void) {
  cuts();
  other_bytes();
  return failures != 0;
}
