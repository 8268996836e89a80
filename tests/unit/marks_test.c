// sources: native/marks.c
// Names are found again, tables are full one day, and what is left out is counted.
#include "../../native/marks.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

static struct marks marks;

static void test_a_name_again_is_the_same(void) {
  marks_add(&marks, "step", 10, 100);
  marks_add(&marks, "other", 20, 50);
  marks_add(&marks, "step", 30, 300);
  EXPECT(marks.count == 3 && marks.name_count == 2 && marks.left_out == 0);
  const struct mark_name *step = &marks.names[marks.marks[2].name];
  EXPECT(strcmp(step->text, "step") == 0 && step->count == 2);
  EXPECT(step->first_ns == 10 && step->last_ns == 30 && step->first_live_bytes == 100 && step->last_live_bytes == 300);
  EXPECT(marks.names[marks.marks[1].name].first_ns == 20 && marks.names[marks.marks[1].name].last_ns == 20);
}

static void test_a_part_of_a_name_is_another(void) {
  marks_clear(&marks);
  marks_add(&marks, "steps", 1, 0);
  marks_add(&marks, "step", 2, 0);
  marks_add(&marks, "", 3, 0);
  EXPECT(marks.name_count == 3);
}

static void test_a_long_name_is_cut(void) {
  char name[2 * MARK_NAME_BYTES];
  marks_clear(&marks);
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = 0;
  marks_add(&marks, name, 1, 0);
  name[MARK_NAME_BYTES] = 0;
  marks_add(&marks, name, 2, 0);
  EXPECT(marks.name_count == 1 && strlen(marks.names[0].text) == MARK_NAME_BYTES - 1);
}

static void test_what_is_beyond_is_counted(void) {
  char name[32];
  marks_clear(&marks);
  for (uint32_t i = 0; i < MARK_NAMES + 5; i++) {
    snprintf(name, sizeof name, "%u", i);
    marks_add(&marks, name, i, 0);
  }
  EXPECT(marks.name_count == MARK_NAMES && marks.left_out == 5 && marks.count == MARK_NAMES);
  for (uint32_t i = 0; i < MARKS_KEPT; i++) marks_add(&marks, "7", MARK_NAMES + i, i);
  EXPECT(marks.count == MARKS_KEPT && marks.names[7].count == MARKS_KEPT + 1);
  EXPECT(marks.names[7].last_live_bytes == MARKS_KEPT - 1 && marks.left_out == 5);
}

static void test_cleared_is_as_new(void) {
  marks_clear(&marks);
  EXPECT(marks.count == 0 && marks.name_count == 0 && marks.left_out == 0);
  marks_add(&marks, "7", 5, 6);
  EXPECT(marks.name_count == 1 && marks.names[0].count == 1 && marks.names[0].first_ns == 5);
}

int main(void) {
  test_a_name_again_is_the_same();
  test_a_part_of_a_name_is_another();
  test_a_long_name_is_cut();
  test_what_is_beyond_is_counted();
  test_cleared_is_as_new();
  return failures != 0;
}
