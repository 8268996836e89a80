// Frames and stacks as every JSON output of heaptide has them.
#ifndef HT_JSON_FRAMES_H
#define HT_JSON_FRAMES_H

#include <stdint.h>

#include "json_out.h"
#include "stacks.h"

// "site": the frame that stands for the stack.
void json_site(struct json_out *out, const struct stacks *stacks, uint32_t node);

// "stack": its frames, leaf first.
void json_stack(struct json_out *out, const struct stacks *stacks, uint32_t node);

#endif
