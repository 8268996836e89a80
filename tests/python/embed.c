// A program with Python inside, which lives three times. Built with what python3-config says.
#include <Python.h>
#include <stdlib.h>

static PyObject *hold(PyObject *self, PyObject *arguments) {
  (void)self, (void)arguments;
  malloc(5000);
  return PyBytes_FromStringAndSize(NULL, 7000);
}

static PyMethodDef methods[] = {{"hold", hold, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "inside", NULL, -1, methods, NULL, NULL, NULL, NULL};
static PyObject *module_make(void) { return PyModule_Create(&module); }

int main(void) {
  PyImport_AppendInittab("inside", module_make);
  for (int i = 0; i < 3; i++) {
    Py_Initialize();
    PyRun_SimpleString("import inside\n"
                       "kept = []\n"
                       "def from_python():\n"
                       "    kept.append(inside.hold())\n"
                       "from_python()\n");
    Py_Finalize();
  }
  return 0;
}
