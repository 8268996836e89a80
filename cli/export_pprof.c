// pprof's profile.proto, gzipped: every figure of every site as a sample type of its own.
// Source: github.com/google/pprof/proto/profile.proto, which says what each field means.
#include <profile.pb-c.h> // made from profile.proto
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export.h"
#include "holders.h"
#include "measure.h"
#include "memory.h"
#include "program_name.h"
#include "text_table.h"
#include "utf8.h"

static const char *const kind_names[] = HT_KIND_NAMES;

// ---- sample types

static int64_t allocations(const struct row *row) { return (int64_t)row->allocations; }
static int64_t allocated_bytes(const struct row *row) { return (int64_t)row->allocated_bytes; }
static int64_t live_blocks(const struct row *row) { return (int64_t)row->live_blocks; }
static int64_t live_bytes(const struct row *row) { return (int64_t)row->live_bytes; }
static int64_t peak_bytes(const struct row *row) { return (int64_t)row->peak_bytes; }
static int64_t leaked_bytes(const struct row *row) {
  return row->suppressed ? 0 : (int64_t)(row->direct_bytes + row->indirect_bytes);
}
static int64_t temporaries(const struct row *row) { return (int64_t)row->temporaries; }

// The first four have the names that heap profiles of Go have, so that `go tool pprof -inuse_space` knows them.
// `measure`: the word of --what that chooses it as the one shown first.
static const struct {
  const char *type, *unit, *measure;
  int64_t (*value)(const struct row *row);
} sample_types[] = {
    {"alloc_objects", "count", "", allocations},          {"alloc_space", "bytes", "allocated", allocated_bytes},
    {"inuse_objects", "count", "", live_blocks},          {"inuse_space", "bytes", "live", live_bytes},
    {"peak_space", "bytes", "peak", peak_bytes},          {"leaked_space", "bytes", "leaked", leaked_bytes},
    {"temporaries", "count", "temporaries", temporaries},
};
#define SAMPLE_TYPES (sizeof sample_types / sizeof *sample_types)

// ---- the profile while it is made

struct profile {
  Pprof__Profile message;
  struct text_table strings, functions, mappings;
  size_t function_capacity, mapping_capacity, sample_capacity, location_capacity;
};

static int64_t string_number(struct profile *profile, const char *text) {
  char *clean = utf8_text(text);
  int64_t number = text_table_number(&profile->strings, clean);
  free(clean);
  return number;
}

static char *build_id_text(const struct symbols *symbols, const char *path) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < symbols->module_count; i++) {
    const struct symbol_module *module = &symbols->modules[i];
    if (strcmp(module->path, path) != 0) continue;
    char *text = memory_get(2 * module->build_id_bytes + 1, 1);
    for (uint32_t k = 0; k < module->build_id_bytes; k++) {
      text[2 * k] = digits[module->build_id[k] >> 4];
      text[2 * k + 1] = digits[module->build_id[k] & 15];
    }
    return text;
  }
  return memory_format("%s", "");
}

// All names are in the profile: the flags keep pprof from looking for the file.
static uint64_t mapping_number(struct profile *profile, const struct symbols *symbols, const char *path) {
  Pprof__Profile *message = &profile->message;
  uint32_t number = text_table_number(&profile->mappings, path);
  if (number < message->n_mapping) return number + 1;
  message->mapping =
      memory_grow(message->mapping, message->n_mapping, &profile->mapping_capacity, sizeof *message->mapping);
  Pprof__Mapping *mapping = message->mapping[message->n_mapping++] = memory_get(1, sizeof *mapping);
  pprof__mapping__init(mapping);
  char *build_id = build_id_text(symbols, path);
  mapping->id = number + 1;
  mapping->filename = string_number(profile, path);
  mapping->build_id = string_number(profile, build_id);
  mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers = mapping->has_inline_frames = 1;
  free(build_id);
  return number + 1;
}

static uint64_t function_number(struct profile *profile, const char *name, const char *file) {
  Pprof__Profile *message = &profile->message;
  char *both = memory_format("%s\n%s", name, file);
  uint32_t number = text_table_number(&profile->functions, both);
  free(both);
  if (number < message->n_function) return number + 1;
  message->function =
      memory_grow(message->function, message->n_function, &profile->function_capacity, sizeof *message->function);
  Pprof__Function *function = message->function[message->n_function++] = memory_get(1, sizeof *function);
  pprof__function__init(function);
  function->id = number + 1;
  function->name = function->system_name = string_number(profile, name);
  function->filename = string_number(profile, file);
  return number + 1;
}

static void location_add(struct profile *profile, const struct symbols *symbols, const struct shown_frame *frame) {
  Pprof__Profile *message = &profile->message;
  message->location =
      memory_grow(message->location, message->n_location, &profile->location_capacity, sizeof *message->location);
  Pprof__Location *location = message->location[message->n_location++] = memory_get(1, sizeof *location);
  Pprof__Line *line = memory_get(1, sizeof *line);
  char *name = frame_name(frame);
  pprof__location__init(location);
  pprof__line__init(line);
  location->id = message->n_location;
  location->mapping_id = frame->module ? mapping_number(profile, symbols, frame->module) : 0;
  location->address = frame->has_offset ? frame->offset : 0;
  location->n_line = 1;
  location->line = memory_get(1, sizeof *location->line);
  location->line[0] = line;
  line->function_id = function_number(profile, name, frame->file ? frame->file : "");
  line->line = frame->line;
  free(name);
}

static Pprof__Label *label_make(struct profile *profile, const char *key, const char *text, int64_t number) {
  Pprof__Label *label = memory_get(1, sizeof *label);
  pprof__label__init(label);
  label->key = string_number(profile, key);
  label->str = text ? string_number(profile, text) : 0;
  label->num = number;
  return label;
}

static void labels_add(struct profile *profile, Pprof__Sample *sample, const struct report *report,
                       const struct row *row) {
  enum { LABELS = 3 };
  char program[PROGRAM_NAME_BYTES];
  program_name_of(report, program);
  sample->label = memory_get(LABELS, sizeof *sample->label);
  sample->label[sample->n_label++] = label_make(profile, "kind", kind_names[row->kind], 0);
  sample->label[sample->n_label++] = label_make(profile, "program", program, 0);
  sample->label[sample->n_label++] = label_make(profile, "pid", NULL, report->process->pid);
}

// `first_location`: the number before that of the process's first frame.
static void sample_add(struct profile *profile, const struct judgement *judgement, const struct row *row,
                       uint64_t first_location) {
  Pprof__Profile *message = &profile->message;
  message->sample = memory_grow(message->sample, message->n_sample, &profile->sample_capacity, sizeof *message->sample);
  Pprof__Sample *sample = message->sample[message->n_sample++] = memory_get(1, sizeof *sample);
  size_t capacity = 0;
  pprof__sample__init(sample);
  for (uint32_t node = row->stack; node; node = stack_outer(judgement->stacks, node)) { // leaf first, as pprof wants it
    sample->location_id =
        memory_grow(sample->location_id, sample->n_location_id, &capacity, sizeof *sample->location_id);
    sample->location_id[sample->n_location_id++] = first_location + judgement->stacks->nodes[node].frame + 1;
  }
  sample->n_value = SAMPLE_TYPES;
  sample->value = memory_get(SAMPLE_TYPES, sizeof *sample->value);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) sample->value[i] = sample_types[i].value(row);
  labels_add(profile, sample, judgement->report, row);
}

static void types_add(struct profile *profile, const char *what) {
  Pprof__Profile *message = &profile->message;
  message->n_sample_type = SAMPLE_TYPES;
  message->sample_type = memory_get(SAMPLE_TYPES, sizeof *message->sample_type);
  for (size_t i = 0; i < SAMPLE_TYPES; i++) {
    Pprof__ValueType *type = message->sample_type[i] = memory_get(1, sizeof *type);
    pprof__value_type__init(type);
    type->type = string_number(profile, sample_types[i].type);
    type->unit = string_number(profile, sample_types[i].unit);
    if (strcmp(sample_types[i].measure, what) == 0) message->default_sample_type = type->type;
  }
}

static void head_add(struct profile *profile, const struct report_set *set) {
  Pprof__Profile *message = &profile->message;
  const struct ht_file_process *process = set->reports[0].process;
  message->time_nanos = (int64_t)process->started_unix_ns;
  message->duration_nanos = (int64_t)process->duration_ns;
  message->n_comment = 1;
  message->comment = memory_get(1, sizeof *message->comment);
  char *recorded = export_recorded_words(set, set->count);
  message->comment[0] = string_number(profile, recorded);
  free(recorded);
  mapping_number(profile, &set->symbols, set->reports[0].strings + process->exe); // the first one is the program's
}

static void profile_make(struct profile *profile, const struct report_set *set, const char *what) {
  pprof__profile__init(&profile->message);
  string_number(profile, ""); // the first one has to be empty
  types_add(profile, what);
  head_add(profile, set);
  for (size_t i = 0; i < set->count; i++) {
    const struct judgement *judgement = &set->judgements[i];
    uint64_t first_location = profile->message.n_location;
    for (size_t k = 0; k < set->stacks[i].frame_count; k++)
      location_add(profile, &set->symbols, &set->stacks[i].frames[k]);
    for (size_t k = 0; k < judgement->row_count; k++)
      if (judgement->rows[k].stack) sample_add(profile, judgement, &judgement->rows[k], first_location);
  }
  profile->message.n_string_table = profile->strings.count;
  profile->message.string_table = profile->strings.texts;
}

// The strings are the table's, the rest was made for the message.
static void profile_free(struct profile *profile) {
  Pprof__Profile *message = &profile->message;
  for (size_t i = 0; i < message->n_sample_type; i++) free(message->sample_type[i]);
  for (size_t i = 0; i < message->n_mapping; i++) free(message->mapping[i]);
  for (size_t i = 0; i < message->n_function; i++) free(message->function[i]);
  for (size_t i = 0; i < message->n_location; i++) {
    free(message->location[i]->line[0]);
    free(message->location[i]->line);
    free(message->location[i]);
  }
  for (size_t i = 0; i < message->n_sample; i++) {
    Pprof__Sample *sample = message->sample[i];
    for (size_t k = 0; k < sample->n_label; k++) free(sample->label[k]);
    free(sample->label);
    free(sample->value);
    free(sample->location_id);
    free(sample);
  }
  free(message->sample_type);
  free(message->mapping);
  free(message->function);
  free(message->location);
  free(message->sample);
  free(message->comment);
  text_table_free(&profile->strings);
  text_table_free(&profile->functions);
  text_table_free(&profile->mappings);
}

// ---- writing

// 16 more than the window's bits asks zlib for gzip's head and foot (zlib.h, deflateInit2).
enum { WINDOW_BITS_GZIP = 15 + 16, MEMORY_LEVEL = 8, CHUNK_BYTES = 64 << 10 };

static bool gzip_write(FILE *stream, uint8_t *data, size_t bytes) {
  z_stream zip = {0};
  uint8_t chunk[CHUNK_BYTES];
  if (deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  int result = Z_OK;
  while (result == Z_OK) {
    uInt part = bytes > CHUNK_BYTES ? CHUNK_BYTES : (uInt)bytes; // avail_in holds 32 bits
    if (!zip.avail_in) {
      zip.next_in = data;
      zip.avail_in = part;
      data += part;
      bytes -= part;
    }
    zip.next_out = chunk;
    zip.avail_out = CHUNK_BYTES;
    result = deflate(&zip, bytes ? Z_NO_FLUSH : Z_FINISH);
    fwrite(chunk, 1, CHUNK_BYTES - zip.avail_out, stream);
  }
  deflateEnd(&zip);
  return result == Z_STREAM_END;
}

bool export_pprof(FILE *stream, const struct report_set *set, const char *what) {
  struct profile profile = {0};
  profile_make(&profile, set, what);
  size_t bytes = pprof__profile__get_packed_size(&profile.message);
  uint8_t *data = memory_get(bytes, 1);
  pprof__profile__pack(&profile.message, data);
  bool good = gzip_write(stream, data, bytes);
  free(data);
  profile_free(&profile);
  return good;
}
