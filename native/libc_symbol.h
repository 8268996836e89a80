// A function of the C library, read from its own tables: for those that are looked up before anything can be.
#ifndef HT_LIBC_SYMBOL_H
#define HT_LIBC_SYMBOL_H

// Of several versions the first one. NULL: no library of that name is loaded, or it has no such function.
void *libc_symbol(const char *name);

#endif
