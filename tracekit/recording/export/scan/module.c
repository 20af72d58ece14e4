/* What Python sees. */

#include "scan.h"

static PyObject *scanner_feed(PyObject *self, PyObject *arguments)
{
    Scanner *s = (Scanner *)self;
    PyObject *buffer, *host;
    Py_ssize_t length;
    char *start;
    const char *rest;
    if (!PyArg_ParseTuple(arguments, "O!nO:feed", &PyByteArray_Type, &buffer, &length, &host))
        return NULL;
    if (length < 0 || length > PyByteArray_Size(buffer) - PADDING)
        return PyErr_Format(PyExc_ValueError, "the buffer has to be %d bytes longer than its content", PADDING);
    s->host = host;
    start = PyByteArray_AsString(buffer);
    rest = scan_rows(s, start, start + length);
    s->host = NULL;
    if (!rest)
        return NULL;
    length -= rest - start;
    memmove(start, rest, (size_t)length);
    return PyLong_FromSsize_t(length);
}

static void drop_table(Scanner *s)
{
    for (size_t k = 0; k < s->column_count; k++)
        Py_CLEAR(s->columns[k].payloads);
    Py_CLEAR(s->signature_numbers);
    Py_CLEAR(s->signatures);
    PyMem_Free(s->signature_slots);
    s->signature_slots = NULL;
    s->column_count = s->rows = s->row_capacity = s->signature_slot_count = 0;
    s->has_table = s->has_before = 0;
}

static PyObject *scanner_begin(PyObject *self, PyObject *arguments)
{
    Scanner *s = (Scanner *)self;
    PyObject *types;
    Py_ssize_t count;
    int keeps;
    if (!PyArg_ParseTuple(arguments, "O!p:begin", &PyTuple_Type, &types, &keeps))
        return NULL;
    count = PyTuple_Size(types);
    if (!s->host || count < 1 || count > MAX_COLUMNS)
        return PyErr_Format(PyExc_ValueError, "a table begins between rows and has 1 to %d columns", MAX_COLUMNS);
    drop_table(s);
    s->signature_numbers = made(PyByteArray_FromStringAndSize(NULL, 0));
    s->signatures = made(PyList_New(0));
    if (!s->signature_numbers || !s->signatures)
        return NULL;
    for (Py_ssize_t k = 0; k < count; k++) {
        Column *column = &s->columns[k];
        PyObject *type = PyTuple_GetItem(types, k);
        Py_ssize_t length;
        const char *name;
        column->tag = 0;
        if (type != Py_None) {
            if (!(name = PyUnicode_AsUTF8AndSize(type, &length)))
                return NULL;
            if (length < 1 || length >= MAX_NAME || !(column->tag = tag_of(s, name, (size_t)length)))
                return PyErr_Occurred() ? NULL : PyErr_Format(Declined, "a column of an unusual type");
        }
        column->width = column->tag && s->tags[column->tag].mode > TIME ? sizeof(int32_t) : sizeof(int64_t);
        column->cells = NULL;
        if (!(column->payloads = made(PyByteArray_FromStringAndSize(NULL, 0))))
            return NULL;
        s->column_count++;
    }
    s->keeps = keeps;
    s->has_table = s->first_id_of_table = 1;
    return Py_NewRef(Py_None);
}

/* Adds the width of a column's payloads and the payloads to a list; one alone if all are the same. */
static int add_payloads(PyObject *list, Column *column, size_t rows)
{
    const int32_t index = (int32_t)column->same;
    const void *one = column->width == sizeof index ? (const void *)&index : &column->same;
    PyObject *entry;
    int added;
    if (!resized(column->payloads, (column->cells || !rows ? rows : 1) * column->width))
        return 0;
    if (!column->cells && rows)
        memcpy(PyByteArray_AsString(column->payloads), one, column->width);
    entry = made(Py_BuildValue("nO", (Py_ssize_t)column->width, column->payloads));
    added = entry && PyList_Append(list, entry) == 0;
    Py_XDECREF(entry);
    return added;
}

static PyObject *scanner_end(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Scanner *s = (Scanner *)self;
    PyObject *payloads, *result;
    size_t kept = s->keeps ? s->rows : 0;
    if (!s->signatures)
        return PyErr_Format(PyExc_ValueError, "there is no table");
    if (!(payloads = made(PyList_New(0))))
        return NULL;
    for (size_t k = 0; k < s->column_count; k++)
        if (!add_payloads(payloads, &s->columns[k], kept)) {
            Py_DECREF(payloads);
            return NULL;
        }
    if (!resized(s->signature_numbers, kept * sizeof(uint16_t))) {
        Py_DECREF(payloads);
        return NULL;
    }
    result = Py_BuildValue("nOON", (Py_ssize_t)s->rows, s->signature_numbers, s->signatures, payloads);
    drop_table(s);
    return result;
}

static PyObject *scanner_index(PyObject *self, PyObject *text)
{
    Scanner *s = (Scanner *)self;
    Py_ssize_t length;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
    int64_t index = bytes ? text_index(s, s->region, bytes, (size_t)length) : -1;
    return index < 0 ? NULL : PyLong_FromLongLong(index);
}

static void drop_ids(Scanner *s)
{
    PyMem_Free(s->id_tags);
    PyMem_Free(s->id_payloads);
    s->id_tags = NULL;
    s->id_payloads = NULL;
    s->id_count = s->id_tag_capacity = s->id_payload_capacity = 0;
}

static PyObject *scanner_compounds(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Scanner *s = (Scanner *)self;
    PyObject *found = made(PyList_New(0));
    drop_ids(s);
    for (size_t k = 0; found && k < s->value_count; k++) {
        PyObject *entry;
        size_t length;
        const char *bytes;
        if (!s->uses[k])
            continue;
        bytes = value_at(s, k, &length);
        entry = Py_BuildValue("nIN", (Py_ssize_t)k, (unsigned)s->uses[k],
                              PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length));
        if (!entry || PyList_Append(found, entry) < 0)
            Py_CLEAR(found);
        Py_XDECREF(entry);
    }
    return found;
}

static PyObject *text_at(const Scanner *s, int64_t index)
{
    size_t length;
    const char *bytes;
    if (index < 0 || (uint64_t)index >= s->value_count || s->uses[index])
        return PyErr_Format(PyExc_IndexError, "no such text");
    bytes = value_at(s, (size_t)index, &length);
    return made(PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, NULL));
}

static PyObject *scanner_text(PyObject *self, PyObject *number)
{
    Py_ssize_t index = PyLong_AsSsize_t(number);
    return PyErr_Occurred() ? NULL : text_at((Scanner *)self, index);
}

static PyObject *scanner_texts(PyObject *self, PyObject *numbers)
{
    PyObject *texts;
    Py_buffer buffer;
    Py_ssize_t count;
    if (PyObject_GetBuffer(numbers, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    count = buffer.len / (Py_ssize_t)sizeof(int64_t);
    texts = made(PyTuple_New(count));
    for (Py_ssize_t k = 0; texts && k < count; k++) {
        int64_t index;
        PyObject *text;
        memcpy(&index, (const char *)buffer.buf + (size_t)k * sizeof index, sizeof index);
        text = text_at((Scanner *)self, index);
        if (!text || PyTuple_SetItem(texts, k, text) < 0)
            Py_CLEAR(texts);
    }
    PyBuffer_Release(&buffer);
    return texts;
}

static PyObject *scanner_finish(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Scanner *s = (Scanner *)self;
    PyObject *names = NULL;
    if (!find_same(s, &names)) {
        Py_XDECREF(names);
        return NULL;
    }
    return Py_BuildValue("nN", (Py_ssize_t)s->value_count, names ? names : Py_NewRef(Py_None));
}

static PyObject *scanner_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    unsigned long long size;
    PyObject *self;
    if (keywords || !PyArg_ParseTuple(arguments, "K:Scanner", &size) || !(self = PyType_GenericAlloc(type, 0)))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Scanner takes no keyword arguments");
    /* All other bytes are 0. */
    ((Scanner *)self)->size = size;
    return self;
}

static void scanner_dealloc(PyObject *self)
{
    Scanner *s = (Scanner *)self;
    PyTypeObject *type = Py_TYPE(self);
    drop_table(s);
    drop_ids(s);
    PyMem_Free(s->bytes);
    PyMem_Free(s->ends);
    PyMem_Free(s->hashes);
    PyMem_Free(s->uses);
    PyMem_Free(s->slots);
    PyMem_Free(s->tags);
    PyMem_Free(s->parts);
    PyMem_Free(s->decoded);
    PyMem_Free(s->key);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"feed", scanner_feed, METH_VARARGS,
     "Scan the first bytes of a buffer as far as the last row, and move the others, which are counted, to its beginning. "
     "`host` is asked what tags and markup mean."},
    {"begin", scanner_begin, METH_VARARGS, "Begin a table: type of each column, and whether its cells are kept."},
    {"end", scanner_end, METH_NOARGS, "Rows, numbers of their signatures, signatures and payloads of the table."},
    {"compounds", scanner_compounds, METH_NOARGS, "Index, uses and bytes of each compound. Forgets the ids."},
    {"index", scanner_index, METH_O, "Index of a text among the values, to which it is added."},
    {"finish", scanner_finish, METH_NOARGS, "Number of values, and for each the first one that is the same; None if none is."},
    {"text", scanner_text, METH_O, "The text of that index."},
    {"texts", scanner_texts, METH_O, "The texts of the indexes in an array of 64-bit integers."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, "Reads the rows of one file of so many bytes."},
    {Py_tp_new, scanner_new},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "tracekit.recording.export._scan.Scanner",
    .basicsize = sizeof(Scanner),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = type_slots,
};

#ifdef SCAN_FAILING_MEMORY
static PyObject *fail_after(PyObject *Py_UNUSED(module), PyObject *count)
{
    fail_at = PyLong_AsLong(count);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
#endif

static PyMethodDef functions[] = {
#ifdef SCAN_FAILING_MEMORY
    {"fail_after", fail_after, METH_O, "Let an allocation fail after so many others; -1: none."},
#endif
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "_scan", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scan(void)
{
    PyObject *module = PyModule_Create(&module_definition), *type = NULL;
    if (!module)
        return NULL;
    Declined = PyErr_NewException("tracekit.recording.export._scan.Declined", NULL, NULL);
    type = PyType_FromSpec(&type_spec);
    if (!Declined || !type || PyModule_AddObjectRef(module, "Declined", Declined) < 0 ||
        PyModule_AddObjectRef(module, "Scanner", type) < 0)
        Py_CLEAR(module);
    Py_XDECREF(type);
    return module;
}
