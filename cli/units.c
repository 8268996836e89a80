#include "units.h"

#include <stdio.h>

char *bytes_text(char text[UNITS_TEXT], uint64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    snprintf(text, UNITS_TEXT, "%llu B", (unsigned long long)bytes);
    return text;
  }
  double value = (double)bytes / 1024;
  int unit = 0;
  for (; value >= 1023.5 && unit < 5; unit++) value /= 1024;
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  snprintf(text, UNITS_TEXT, "%.*f %s", decimals, value, units[unit]);
  return text;
}

double seconds_of(uint64_t ns) { return (double)ns / 1e9; }

char *count_text(char text[UNITS_TEXT], uint64_t count) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), out = 0;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) text[out++] = ',';
    text[out++] = digits[i];
  }
  text[out] = 0;
  return text;
}

char *seconds_text(char text[UNITS_TEXT], double seconds) {
  unsigned long long whole = (unsigned long long)seconds;
  if (seconds < 1)
    snprintf(text, UNITS_TEXT, "%.3f s", seconds);
  else if (seconds < 120)
    snprintf(text, UNITS_TEXT, "%.*f s", seconds < 10 ? 2 : 1, seconds);
  else if (whole < 7200)
    snprintf(text, UNITS_TEXT, "%llu min %llu s", whole / 60, whole % 60);
  else
    snprintf(text, UNITS_TEXT, "%llu h %llu min", whole / 3600, whole / 60 % 60);
  return text;
}
