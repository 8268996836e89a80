// Numbers for people: three digits and a unit.
#ifndef HT_UNITS_H
#define HT_UNITS_H

#include <stdint.h>

#define UNITS_TEXT 40 // room for any of the texts

// "1000 B", "18.8 KiB", "1.23 MiB"; returns `text`.
char *bytes_text(char text[UNITS_TEXT], uint64_t bytes);

// "1,234,567"; returns `text`.
char *count_text(char text[UNITS_TEXT], uint64_t count);

double seconds_of(uint64_t ns);

// "0.012 s", "2.05 s", "3 min 20 s", "5 h 2 min"; returns `text`.
char *seconds_text(char text[UNITS_TEXT], double seconds);

#endif
