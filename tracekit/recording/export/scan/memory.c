/* Errors, and memory that grows. */

#include "scan.h"

PyObject *Declined;
#ifdef SCAN_FAILING_MEMORY
long fail_at = -1;
#endif

const char *decline(Scanner *s, const char *where, const char *reason)
{
    if (!PyErr_Occurred())
        PyErr_Format(Declined, "%s at byte %llu", reason,
                     (unsigned long long)(s->consumed + (uint64_t)(where - s->region)));
    return NULL;
}

/* Makes room in an array; `array` is the address of its pointer. */
int reserve(void *array, size_t *capacity, size_t needed, size_t size)
{
    void *grown, *current;
    size_t wanted = *capacity + *capacity / 2 + 64;
    if (needed <= *capacity)
        return 1;
    if (wanted < needed)
        wanted = needed;
    memcpy(&current, array, sizeof current);
    if (wanted > PY_SSIZE_T_MAX / size || FAILS() || !(grown = PyMem_Realloc(current, wanted * size))) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 1;
}

PyObject *made(PyObject *object)
{
    if (object && FAILS()) {
        Py_DECREF(object);
        return PyErr_NoMemory();
    }
    return object;
}

int resized(PyObject *bytearray, size_t size)
{
    if (FAILS()) {
        PyErr_NoMemory();
        return 0;
    }
    return PyByteArray_Resize(bytearray, (Py_ssize_t)size) == 0;
}
