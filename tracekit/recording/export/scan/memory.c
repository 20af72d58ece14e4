/* Errors, and memory that grows. */

#ifdef __linux__
#define _DEFAULT_SOURCE /* for madvise */
#endif
#include "scan.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

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

/* Asks for large pages where an array is large, as numpy does: most of the time would go into handing out small ones, and
   into finding out where they are. */
void *in_large_pages(void *array, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 4096, begin = (uintptr_t)array & ~(page - 1);
    if (size >= 4 << 20)
        madvise((void *)begin, ((uintptr_t)array + size - begin + page - 1) & ~(page - 1), MADV_HUGEPAGE);
#endif
    (void)size;
    return array;
}

/* How many of something the file will have had if it goes on like that, of which there are so many from byte `start` to
   `where`, and at most one more for each byte that is left: one long text at the beginning is no measure of the others.
   With the right room from the beginning, no array has to be moved; memory that is never used costs nothing. */
size_t expected(const Scanner *s, const char *where, size_t count, uint64_t start)
{
    uint64_t done = s->consumed + (uint64_t)(where - s->region), left, more;
    if (done <= start || done >= s->size)
        return count;
    left = s->size - done;
    more = count * (left / (done - start) + 1);
    return count + (size_t)(more < left ? more : left);
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
    grown = in_large_pages(grown, wanted * size);
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
    if (PyByteArray_Resize(bytearray, (Py_ssize_t)size) < 0)
        return 0;
    in_large_pages(PyByteArray_AsString(bytearray), size);
    return 1;
}
