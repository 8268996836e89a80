// Who holds the memory of the largest sites, in Python's words: `bytearray << Box.data[0] << __main__.keep['a']`.
#ifndef HT_OBJECT_HOLDER_H
#define HT_OBJECT_HOLDER_H

// Finds it and hands it to the report (native/report_holders.h), where it stays. The caller holds the GIL, its hooks
// pass calls through, counters are folded into the sites. Bounded in time (object_graph.c).
void object_holders_find(void);
void object_holders_fork_child(void);

#endif
