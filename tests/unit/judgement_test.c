// sources: cli/growth.c cli/units.c cli/pattern.c cli/runtime_frame.c cli/utf8.c cli/memory.c cli/problem.c
// The rules that a report is judged by, each on made-up figures.
#include "../../cli/growth.h"
#include "../../cli/pattern.h"
#include "../../cli/runtime_frame.h"
#include "../../cli/units.h"
#include "../../cli/utf8.h"
#include "../../native/file_format.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 100 };
#define RUN_S 10.0

// A run of RUN_S seconds whose bytes at the share `x` of it are start + rise * shape(x).
static struct growth judge(double start, double rise, double (*shape)(double), struct growth_limit limit) {
  static double at_s[SAMPLES], bytes[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    at_s[i] = RUN_S * i / (SAMPLES - 1);
    bytes[i] = start + rise * shape((double)i / (SAMPLES - 1));
  }
  return growth_judge(&(struct growth_curve){at_s, bytes, SAMPLES, 0}, RUN_S, limit);
}

static double linear(double x) { return x; }
static double flat(double x) { return x > 2; }
static double early(double x) { return x < 0.4 ? x / 0.4 : 1; }
static double falling(double x) { return 1 - x; }

static const struct growth_limit no_limit = {false, 0};

static void growth_follows_the_rule(void) {
  EXPECT(judge(1e6, 0, flat, no_limit).verdict == VERDICT_PASS);
  EXPECT(judge(1e6, 1e6, falling, no_limit).verdict == VERDICT_PASS);
  struct growth rising = judge(0, 10e6, linear, no_limit);
  EXPECT(rising.verdict == VERDICT_FAIL);
  EXPECT(rising.slope_bytes_per_s > 0.999e6 && rising.slope_bytes_per_s < 1.001e6);
  EXPECT(rising.projected_bytes > 7.99e6 && rising.projected_bytes < 8.01e6); // over 80 % of the run
  EXPECT(rising.window.start_s == 2 && rising.window.end_s == 10);
  EXPECT(judge(0, 80e3, linear, no_limit).verdict == VERDICT_PASS);    // 64,000: not over 64 KiB
  EXPECT(judge(0, 84e3, linear, no_limit).verdict == VERDICT_FAIL);    // 67,200
  EXPECT(judge(100e6, 6e6, linear, no_limit).verdict == VERDICT_PASS); // 4.8 MB: under 5 % of the mean
  EXPECT(judge(10e6, 2e6, linear, no_limit).verdict == VERDICT_FAIL);
}

static void a_later_window_may_acquit(void) {
  struct growth growth = judge(1e6, 4e6, early, no_limit);
  EXPECT(growth.verdict == VERDICT_PASS && growth.window.start_s > 2.2 && growth.window.start_s <= 5);
  EXPECT(strstr(growth.why, "window from"));
}

static void a_limit_replaces_the_rule(void) {
  EXPECT(judge(0, 10e6, linear, (struct growth_limit){true, 9e6}).verdict == VERDICT_PASS);
  EXPECT(judge(0, 10e6, linear, (struct growth_limit){true, 7e6}).verdict == VERDICT_FAIL);
  EXPECT(judge(100e6, 50e3, linear, (struct growth_limit){true, 0}).verdict == VERDICT_FAIL);
}

// Estimates of figures that do not change vary: four standard deviations are allowed to be chance.
static void a_sample_may_vary(void) {
  double at_s[SAMPLES], bytes[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) at_s[i] = RUN_S * i / (SAMPLES - 1), bytes[i] = 10e6 + 2e6 * i / (SAMPLES - 1);
  struct growth_curve curve = {at_s, bytes, SAMPLES, 0};
  EXPECT(growth_judge(&curve, RUN_S, no_limit).verdict == VERDICT_FAIL);
  curve.sample_bytes = 512 << 10; // the deviation is 3.4 MB
  EXPECT(growth_judge(&curve, RUN_S, no_limit).verdict == VERDICT_PASS);
  curve.sample_bytes = 4096; // 300 kB: 1.6 MB is none of it
  EXPECT(growth_judge(&curve, RUN_S, no_limit).verdict == VERDICT_FAIL);
}

static void few_samples_are_not_judged(void) {
  double at_s[8] = {0, 1, 2, 3, 4, 5, 6, 7}, bytes[8] = {0, 1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6};
  EXPECT(growth_judge(&(struct growth_curve){at_s, bytes, 7, 0}, 6, no_limit).verdict == VERDICT_NONE);
  EXPECT(growth_judge(&(struct growth_curve){at_s, bytes, 8, 0}, 7, no_limit).verdict == VERDICT_FAIL);
  EXPECT(growth_judge(&(struct growth_curve){at_s, bytes, 8, 0}, 1000, no_limit).verdict == VERDICT_NONE);
}

static void sites_rise_or_do_not(void) {
  double at_s[4] = {0, 1, 2, 3}, up[4] = {5, 10, 20, 30}, down[4] = {30, 20, 10, 5}, rate;
  struct growth_window whole = {1, 3}, last = {3, 3};
  EXPECT(growth_rise(&(struct growth_curve){at_s, up, 4, 0}, whole, &rate) && rate == 10);
  EXPECT(!growth_rise(&(struct growth_curve){at_s, down, 4, 0}, whole, &rate));
  EXPECT(!growth_rise(&(struct growth_curve){at_s, up, 4, 0}, last, &rate));
}

static void patterns_match_as_in_leak_sanitizer(void) {
  static const struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {
      {"alpha", "lose_alpha_x", true},
      {"^alpha", "lose_alpha", false},
      {"^lose", "lose_alpha", true},
      {"alpha$", "lose_alpha", true},
      {"lose$", "lose_alpha", false},
      {"lo*al*ha", "lose_alpha", true},
      {"^lose_al*$", "lose_alpha", true},
      {"^a*b$", "ab_b", true},
      {"^a*b$", "ab_c", false},
      {"a*a$", "a", false},
      {"^ab$", "ab", true},
      {"^ab$", "abab", false},
      {"aab", "aaab", true},
      {"a*b*c", "acb", false},
      {"ALPHA", "alpha", false},
      {"x", "", false},
      {"a**b", "a-b", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (pattern_matches(cases[i].pattern, cases[i].text) != cases[i].matches) {
      fprintf(stderr, "%s on %s is not %d\n", cases[i].pattern, cases[i].text, cases[i].matches);
      failures++;
    }
}

static void runtimes_are_known(void) {
  EXPECT(runtime_frame("malloc", NULL, "/usr/lib/libc.so.6", HT_MODULE_LIBC));
  EXPECT(runtime_frame(NULL, NULL, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", 0));
  EXPECT(runtime_frame(NULL, NULL, "/opt/x/libjemalloc.so.2", 0));
  EXPECT(runtime_frame(NULL, NULL, "/opt/x.libs/libgcc_s-3a4b5c6d.so.1", 0));
  EXPECT(runtime_frame(NULL, NULL, "/lib/x86_64-linux-gnu/libc-2.31.so", 0));
  EXPECT(runtime_frame(NULL, NULL, "/lib64/ld-linux-x86-64.so.2", 0));
  EXPECT(!runtime_frame(NULL, NULL, "/opt/x/libc_test", HT_MODULE_MAIN));
  EXPECT(!runtime_frame(NULL, NULL, "/usr/lib/libc-client.so.2007e", 0));
  EXPECT(runtime_frame_tells_nothing(NULL, "/lib64/ld-linux-x86-64.so.2")); // a library was loaded: by whom is told
  EXPECT(!runtime_frame_tells_nothing(NULL, "/usr/lib/libc.so.6"));
  EXPECT(runtime_frame("alloc", "Mojo/stdlib/std/memory/alloc.mojo", "/opt/leak", HT_MODULE_MAIN));
  EXPECT(runtime_frame("__init__", "max/mojo/max/gpu/host/device_context.mojo", "/opt/leak", HT_MODULE_MAIN));
  EXPECT(!runtime_frame("alloc", "/home/me/Mojo/stdlib/mine.mojo", "/opt/leak", HT_MODULE_MAIN));
  EXPECT(runtime_frame(NULL, NULL, "/usr/bin/python3.11", 0));
  EXPECT(runtime_frame(NULL, NULL, "/usr/lib/libpython3.13t.so.1.0", 0));
  EXPECT(runtime_frame("operator new(unsigned long)", NULL, "/bin/x", HT_MODULE_MAIN));
  EXPECT(runtime_frame("std::vector<int>::push_back(int&&)", "/usr/include/c++/12/bits/vector.tcc", "/bin/x", 0));
  EXPECT(runtime_frame("std::vector<int>::push_back(int&&)", NULL, "/bin/x", 0));
  EXPECT(!runtime_frame("std::hash<Mine>::operator()", "/home/me/mine.h", "/bin/x", 0));
  EXPECT(!runtime_frame("main", "/home/me/main.c", "/bin/x", HT_MODULE_MAIN));
  EXPECT(!runtime_frame("main", "/home/me/main.c", "/bin/own_malloc", HT_MODULE_MAIN | HT_MODULE_ALLOCATOR));
  EXPECT(runtime_frame("my_arena_get", NULL, "/opt/liballoc.so", HT_MODULE_ALLOCATOR));
  EXPECT(!runtime_frame("f", NULL, "/opt/python-tools/lib/libfoo.so", 0));
  EXPECT(!runtime_frame("f", NULL, "/opt/libcurl.so.4", 0));
  EXPECT(!runtime_frame(NULL, NULL, NULL, 0));
}

static void numbers_have_three_digits(void) {
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {{0, "0 B"},           {1000, "1000 B"},      {1024, "1.00 KiB"},
               {19200, "18.8 KiB"},  {10235, "10.0 KiB"},   {1048576, "1.00 MiB"},
               {1000000, "977 KiB"}, {1048575, "1.00 MiB"}, {UINT64_MAX, "16.0 EiB"}};
  char text[UNITS_TEXT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (strcmp(bytes_text(text, cases[i].bytes), cases[i].text) != 0) {
      fprintf(stderr, "%s is not %s\n", text, cases[i].text);
      failures++;
    }
  EXPECT(!strcmp(count_text(text, 1234567), "1,234,567") && !strcmp(count_text(text, 999), "999"));
}

static void utf8_is_checked(void) {
  EXPECT(utf8_length("a") == 1 && utf8_length("\xc3\xa9") == 2 && utf8_length("\xe2\x82\xac") == 3);
  EXPECT(utf8_length("\xf0\x9f\x94\xa5") == 4);
  EXPECT(utf8_length("\xc0\x80") == 0 && utf8_length("\xed\xa0\x80") == 0 && utf8_length("\xf4\x90\x80\x80") == 0);
  EXPECT(utf8_length("\xc3") == 0 && utf8_length("\xff") == 0 && utf8_length("\x80") == 0);
}

int main(void) {
  growth_follows_the_rule();
  a_later_window_may_acquit();
  a_limit_replaces_the_rule();
  a_sample_may_vary();
  few_samples_are_not_judged();
  sites_rise_or_do_not();
  patterns_match_as_in_leak_sanitizer();
  runtimes_are_known();
  numbers_have_three_digits();
  utf8_is_checked();
  return failures != 0;
}
