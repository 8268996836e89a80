// What the user probably meant: ends of messages, for a word that is misspelt or a program that is not found.
#ifndef HT_HINT_H
#define HT_HINT_H

#include <limits.h>
#include <stddef.h>

// The offered name that a misspelt word is nearest to.
struct hint_nearest {
  const char *word;
  size_t bytes;     // of the word
  const char *name; // the nearest so far, NULL: none is near
  unsigned edits;   // between the two
};

struct hint_nearest hint_nearest_to(const char *word, size_t bytes);
void hint_offer(struct hint_nearest *nearest, const char *name);

#define HINT_TEXT (PATH_MAX + 64)

// What to do about a program that cannot be run (`error` of target_find): ends `heaptide: WHAT: WHY; `. Returns `text`.
char *hint_program(const char *command, int error, char text[HINT_TEXT]);

#endif
