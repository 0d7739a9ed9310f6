"""Python submissions to vector-add with an extension; without PyTorch's headers, for speed."""

TINY = r"""
#include <Python.h>
static PyObject* add(PyObject*, PyObject* args) {
  unsigned long long x, y, z;
  Py_ssize_t n;
  if (!PyArg_ParseTuple(args, "KKKn", &x, &y, &z, &n)) return nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) ((float*)z)[i] = ((float*)x)[i] + ((float*)y)[i];
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"add", add, METH_VARARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "made", nullptr, -1, methods};
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
PyMODINIT_FUNC JOIN(PyInit_, TORCH_EXTENSION_NAME)() { return PyModule_Create(&module); }
"""
"""A Python module by hand: compiled in half a second."""

BUILD = f"""
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r'''{TINY}'''

def build(source=SOURCE, name="tiny", **options):
    return load_inline(name, source, no_implicit_headers=True, **options)

def run(extension, x, y, z, n):
    extension.add(x.data_ptr(), y.data_ptr(), z.data_ptr(), n)
"""
"""Defines ``build``, which asks for it, and ``run``, which calls it."""

AT_IMPORT = (
    BUILD
    + """
extension = build()

def solution(x, y, z, n):
    run(extension, x, y, z, n)
"""
)
