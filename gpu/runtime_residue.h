// What GPU runtimes keep for themselves until the end: their own tables, and a host object for each device block.
#ifndef HT_RUNTIME_RESIDUE_H
#define HT_RUNTIME_RESIDUE_H

// At report time, before the threads are parked: marks the sites of host memory that a GPU runtime allocated for
// itself. Lost blocks there are known residue: the program cannot free them, and a device block that it lost has a row
// of its own.
void runtime_residue_mark(void);

#endif
