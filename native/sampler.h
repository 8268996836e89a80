// The sampler: no thread, no timer, no signal. Live bytes change only inside hooks, so hooks look at the clock.
// Each pays for its calls and bytes from thread->sample_budget; when that is used up it calls sampler_tick, which
// takes the samples that are due and hands out a new budget, small for a thread that calls rarely (then every call
// looks at the clock), large for a busy one. A sample is off by at most one budget a thread.
#ifndef HT_SAMPLER_H
#define HT_SAMPLER_H

#include "site_history.h"
#include "timeline.h"
#include "words.h"

#define SAMPLE_CALL_BYTES 256                     // what a call pays besides its block's size
#define SAMPLE_BUDGET_BYTES (256 * 1024)          // the largest budget: 1024 calls
#define SAMPLE_BUDGET_MIN_BYTES SAMPLE_CALL_BYTES // one call

struct thread;
struct lock;

// Before the first hook: starts the clock that all times in the report count from. False: no memory, no timeline.
bool sampler_init(uint64_t every_ms);

// Called by a hook of `thread` whose budget is used up, BEFORE the call is counted (a gap since the last sample then
// gets the values that held throughout it) and with no lock held. Leaves errno alone, allocates nothing of the
// program's, never waits: when another thread is at it, that one takes the sample.
void sampler_tick(struct thread *thread);

// At report time, all counters settled: samples up to now and a last point of the sites. `live_bytes` by kind.
void sampler_finish(const uint64_t live_bytes[HT_KIND_COUNT]);

// In the fork child: a timeline of its own, from now.
void sampler_fork_child(void);

uint64_t sampler_elapsed_ns(void);       // since the start
void sampler_freeze(void);               // in a copy of the process: time stands still
uint64_t sampler_ns_at(uint64_t now_ns); // a time of sys_now_ns or sys_tick_ns as ns after the start
uint64_t sampler_started_unix_ns(void);

// For the report; NULL when there was no memory for it.
const struct timeline *sampler_timeline(void);
const struct site_history *sampler_history(void);

// Called in the hook of the thread that looked at the clock, with the sampler's lock: the next sample waits for it, and
// it may take locks of higher ranks. Each is set once, NULL: nothing.
// With every sample, the last one included, before the call that changes something is counted: for what a front end
// keeps over time. It may put its own figures of that moment into `values`, which are kept then.
void sampler_on_sample(void (*watch)(uint64_t now_ns, struct timeline_values *values));
// At the first look and after each sample that a look took: for what is to be done now and then (checkpoints,
// requests).
void sampler_on_look(void (*watch)(uint64_t now_ns));

struct lock *sampler_lock(void);

#endif
