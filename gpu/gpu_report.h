// The GPU's sections of the report file.
#ifndef HT_GPU_REPORT_H
#define HT_GPU_REPORT_H

// `timeline`: HT_GPU_TIMELINE_*.
void gpu_report_init(unsigned timeline);

// Before the threads are parked: what has to be looked up.
void gpu_report_prepare(void);

#endif
