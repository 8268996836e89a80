// Of which types the objects of a site are, by the front end that knows their language.
#ifndef HT_REPORT_TYPES_H
#define HT_REPORT_TYPES_H

#include "report_tables.h"
#include "writer.h"

#define TYPED_SITES_MAX 256u
#define TYPES_OF_SITE 3u
#define TYPE_NAME_BYTES 64u // a longer name is cut

struct site_type {
  site_id site; // 0: no type
  char name[TYPE_NAME_BYTES];
  uint64_t blocks, bytes;
};

enum types_of { TYPES_OF_LIVE, TYPES_OF_LOST, TYPES_OF_COUNT };

// They stay until the next call for the same. Of one site the largest comes first.
void types_front_set(enum types_of which, const struct site_type *types, uint32_t count);

// The sections PYTHON_TYPES and PYTHON_LOST_TYPES.
void types_write(struct report_tables *tables, struct writer *writer);

#endif
