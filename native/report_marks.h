// The sections MARK_NAMES and MARKS, and what a report says of marks that are not in them.
#ifndef HT_REPORT_MARKS_H
#define HT_REPORT_MARKS_H

#include "report_notes.h"
#include "report_tables.h"
#include "writer.h"

// While threads run a mark more or less may be in either section; what the one names is in the other.
void marks_write(struct report_tables *tables, struct writer *writer);
void marks_note(struct report_notes *notes, struct report_tables *tables);

#endif
