// Where Python's hooks start.
#ifndef HT_PYTHON_START_H
#define HT_PYTHON_START_H

// In an interpreter that runs: the caller holds the GIL, python_api and frame_layout are set.
void python_start_attached(void);

#endif
