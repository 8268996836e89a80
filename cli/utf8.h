// UTF-8, for texts that come from file names and symbol tables and may be anything.
#ifndef HT_UTF8_H
#define HT_UTF8_H

#include <stdio.h>

// Bytes of the character that the NUL-terminated text starts with, 1 to 4; 0: it starts with none (RFC 3629: no
// overlong forms, no surrogates, nothing over U+10FFFF).
int utf8_length(const char *text);

// How many characters stand in the text, a byte that is no character counting as one.
int utf8_count(const char *text);

// Writes the text, each byte that is no character as U+FFFD.
void utf8_write(FILE *stream, const char *text);

// A copy in which each byte that is no character is `?`; new memory.
char *utf8_text(const char *text);

#endif
