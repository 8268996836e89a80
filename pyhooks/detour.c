#include "detour.h"

#include "object_count.h"
#include "object_map.h"

static uint32_t detours = DETOUR_START;
struct short_way short_way = {SHORT_WAY_NONE, SHORT_WAY_NO_VALUE};

void detour_update(void) {
  uint32_t now = __atomic_load_n(&detours, __ATOMIC_SEQ_CST);
  bool open = now == 0, frees_open = (now & ~(uint32_t)DETOUR_OWNERS) == 0;
  __atomic_store_n(&short_way.interpreter, open ? python.main_interpreter : SHORT_WAY_NONE, __ATOMIC_SEQ_CST);
  __atomic_store_n(&short_way.first_value, frees_open ? pair_frozen << OBJECT_START_BITS : SHORT_WAY_NO_VALUE,
                   __ATOMIC_SEQ_CST);
}

void detour_set(enum detour detour) {
  __atomic_or_fetch(&detours, detour, __ATOMIC_SEQ_CST);
  detour_update();
}

void detour_clear(enum detour detour) {
  __atomic_and_fetch(&detours, ~(uint32_t)detour, __ATOMIC_SEQ_CST);
  detour_update();
}
