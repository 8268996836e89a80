// Mojo's runtime takes most of the GPU's memory in one block, and of the host's in another, and hands out the buffers
// of a program from these, unless it is told not to (`heaptide run --gpu` does).
#ifndef HT_MOJO_POOL_H
#define HT_MOJO_POOL_H

// What the program's environment says about the pools, when the program starts.
void mojo_pool_init(char *const *environment);

// Before a report: the sites of the pools' blocks are marked as such. Takes no lock.
void mojo_pool_mark(void);

#endif
