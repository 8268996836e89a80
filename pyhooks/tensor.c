#include "tensor.h"

#include <string.h>

#include "../native/core.h"
#include "../native/text.h"
#include "object_fields.h"
#include "object_graph.h"
#include "python_api.h"
#include "python_name.h"

#define DTYPE_BYTES 32u
#define SHAPE_BYTES 128u
#define DIMENSIONS_MAX 16

static struct tensor found[TENSORS_MAX];
static char dtypes[TENSORS_MAX][DTYPE_BYTES], shapes[TENSORS_MAX][SHAPE_BYTES];
static uint32_t found_count;

// ---- types, as the modules that the program has imported know them

static const void *types[3]; // torch.Tensor, torch.nn.parameter.Parameter, cupy.ndarray; NULL: not imported
enum { TORCH_TENSOR, TORCH_PARAMETER, CUPY_ARRAY };

static const void *type_in(const char *module, const char *name) {
  void *object = python.PyDict_GetItemString(python.PyImport_GetModuleDict(), module);
  return object && object_sort(object) == SORT_MODULE ? object_attribute(object, name) : NULL;
}

static bool types_find(void) {
  types[TORCH_TENSOR] = type_in("torch", "Tensor");
  types[TORCH_PARAMETER] = type_in("torch.nn.parameter", "Parameter");
  types[CUPY_ARRAY] = type_in("cupy", "ndarray");
  return types[TORCH_TENSOR] || types[CUPY_ARRAY];
}

static const void *type_of(const void *object) { return ((const void *const *)object)[1]; } // PyObject.ob_type

// ---- attributes

static void *attribute(void *object, const char *name) {
  void *value = object ? python.PyObject_GetAttrString(object, name) : NULL;
  if (!value) python.PyErr_Clear();
  return value;
}

static void drop(void *object) {
  if (object) python.Py_DecRef(object);
}

static void *called(void *object, const char *name) {
  void *method = attribute(object, name);
  void *value = method ? python.PyObject_CallFunctionObjArgs(method, NULL) : NULL;
  if (!value) python.PyErr_Clear();
  drop(method);
  return value;
}

// Takes the reference. -1: no number.
static long long number_taken(void *value) {
  int overflow = 0;
  long long number =
      value && object_sort(value) == SORT_NUMBER ? python.PyLong_AsLongLongAndOverflow(value, &overflow) : -1;
  drop(value);
  return number;
}

static bool truth_taken(void *value) {
  bool truth = value && python.PyObject_IsTrue(value) == 1;
  drop(value);
  return truth;
}

static void shape_read(void *object, char *shape) {
  void *sizes = attribute(object, "shape");
  struct text text;
  text_start(&text, shape, SHAPE_BYTES);
  ssize_t count = sizes ? python.PyTuple_Size(sizes) : 0;
  if (count < 0) python.PyErr_Clear();
  for (ssize_t i = 0; i < count && i < DIMENSIONS_MAX; i++) {
    int overflow;
    if (i) text_add(&text, ",");
    text_add_decimal(&text, (uint64_t)python.PyLong_AsLongLongAndOverflow(python.PyTuple_GetItem(sizes, i), &overflow));
  }
  drop(sizes);
}

// `float32`, of `torch.float32` too.
static void dtype_read(void *object, char *dtype) {
  void *type = attribute(object, "dtype"), *string = type ? python.PyObject_Str(type) : NULL;
  dtype[0] = 0;
  if (string) dtype[python_string_read(string, dtype, DTYPE_BYTES - 1)] = 0;
  if (!string) python.PyErr_Clear();
  const char *dot = strrchr(dtype, '.');
  if (dot) memmove(dtype, dot + 1, strlen(dot));
  drop(string);
  drop(type);
}

// ---- one object

struct place {
  long long bytes, device, address;
};

// What the elements take is more than there is where they share memory (a tensor that was expanded), or where the
// storage was given back meanwhile.
static long long at_most(long long bytes, long long storage_bytes) {
  return storage_bytes >= 0 && storage_bytes < bytes ? storage_bytes : bytes;
}

static struct place torch_place(void *object) {
  struct place none = {-1, -1, 0}, place;
  if (!truth_taken(attribute(object, "is_cuda"))) return none;
  void *storage = called(object, "untyped_storage");
  place.bytes = at_most(number_taken(attribute(object, "nbytes")), number_taken(called(storage, "nbytes")));
  drop(storage);
  place.device = number_taken(called(object, "get_device"));
  place.address = number_taken(called(object, "data_ptr"));
  return place;
}

static struct place cupy_place(void *object) {
  void *data = attribute(object, "data"), *device = attribute(object, "device"), *memory = attribute(data, "mem");
  struct place place;
  place.bytes = at_most(number_taken(attribute(object, "nbytes")), number_taken(attribute(memory, "size")));
  place.device = number_taken(attribute(device, "id"));
  place.address = number_taken(attribute(data, "ptr"));
  drop(memory);
  drop(data);
  drop(device);
  return place;
}

static void keep(uint32_t node, void *object, struct place place) {
  uint32_t at = found_count;
  while (at > 0 && found[at - 1].held.bytes < (uint64_t)place.bytes) at--;
  if (at == TENSORS_MAX) return;
  uint32_t last = found_count < TENSORS_MAX ? found_count++ : TENSORS_MAX - 1;
  char dtype[DTYPE_BYTES], shape[SHAPE_BYTES];
  dtype_read(object, dtype);
  shape_read(object, shape);
  memmove(&found[at + 1], &found[at], (last - at) * sizeof found[0]);
  memmove(dtypes[at + 1 < TENSORS_MAX ? at + 1 : at], dtypes[at], (last - at) * sizeof dtypes[0]);
  memmove(shapes[at + 1 < TENSORS_MAX ? at + 1 : at], shapes[at], (last - at) * sizeof shapes[0]);
  memcpy(dtypes[at], dtype, sizeof dtype);
  memcpy(shapes[at], shape, sizeof shape);
  found[at] = (struct tensor){.held = {.bytes = (uint64_t)place.bytes,
                                       .device = (uint32_t)place.device,
                                       .site = ht_site_of((uintptr_t)place.address)},
                              .node = node};
}

static void object_look(uint32_t node, void *object) {
  const void *type = type_of(object);
  struct place place = {-1, -1, 0};
  if (type == types[CUPY_ARRAY])
    place = cupy_place(object);
  else if (type == types[TORCH_TENSOR] || type == types[TORCH_PARAMETER])
    place = torch_place(object);
  if (place.bytes > 0 && place.device >= 0) keep(node, object, place);
}

struct tensor *tensors_find(uint32_t *count) {
  found_count = 0;
  uint32_t end = types_find() ? object_graph_end() : 0;
  for (uint32_t node = 1; node < end; node++) {
    const struct graph_node *at = object_graph_node(node);
    if (at->kind <= GRAPH_MODULE && type_of(at->object)) object_look(node, (void *)at->object);
  }
  for (uint32_t i = 0; i < found_count; i++) {
    found[i].held.dtype = dtypes[i][0] ? dtypes[i] : NULL;
    found[i].held.shape = shapes[i];
  }
  *count = found_count;
  return found;
}
