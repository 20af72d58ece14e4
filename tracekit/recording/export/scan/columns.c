/* The columns of a table and its patterns of missing cells. */

#include "scan.h"

/* Room for so many payloads. */
static int make_room(Column *column, size_t rows)
{
    if (!resized(column->payloads, rows * column->width))
        return 0;
    column->cells = PyByteArray_AsString(column->payloads);
    return 1;
}

/* Makes room for another row. */
int reserve_row(Scanner *s, const char *where)
{
    size_t wanted = s->row_capacity + s->row_capacity / 2 + 256, all = expected(s, where, s->rows, s->table_start);
    if (wanted < all)
        wanted = all;
    for (size_t k = 0; k < s->column_count; k++)
        if (s->columns[k].cells && !make_room(&s->columns[k], wanted))
            return 0;
    if (!resized(s->signature_numbers, wanted * sizeof(uint16_t)))
        return 0;
    s->row_capacity = wanted;
    return 1;
}

/* Keeps a payload that is not that of all rows before. */
int differs(Scanner *s, Column *column, int64_t payload)
{
    if (!make_room(column, s->row_capacity))
        return 0;
    for (size_t row = 0; row <= s->rows; row++) {
        int64_t value = row == s->rows ? payload : column->same;
        int32_t index = (int32_t)value;
        if (column->width == sizeof value)
            memcpy(column->cells + row * sizeof value, &value, sizeof value);
        else
            memcpy(column->cells + row * sizeof index, &index, sizeof index);
    }
    return 1;
}

/* Number of the signature of the row just read: the tag of each cell, 0 where it holds no value. -1 for an error. */
long signature_number(Scanner *s, const char *where)
{
    size_t size = s->column_count * sizeof *s->signature, slot, count = (size_t)PyList_Size(s->signatures);
    uint32_t hash = hash_of((const char *)s->signature, size);
    PyObject *bytes;
    if (2 * count >= s->signature_slot_count && !grow_slots(&s->signature_slots, &s->signature_slot_count, count))
        return -1;
    for (slot = hash & (s->signature_slot_count - 1); s->signature_slots[slot].next;
         slot = (slot + 1) & (s->signature_slot_count - 1)) {
        uint32_t number = s->signature_slots[slot].next - 1;
        PyObject *known = PyList_GetItem(s->signatures, number);
        if (s->signature_slots[slot].hash == hash && memcmp(PyBytes_AsString(known), s->signature, size) == 0)
            return (long)number;
    }
    if (count >= MAX_SIGNATURES) {
        decline(s, where, "too many patterns of missing cells");
        return -1;
    }
    if (!(bytes = made(PyBytes_FromStringAndSize((const char *)s->signature, (Py_ssize_t)size))))
        return -1;
    if (PyList_Append(s->signatures, bytes) < 0) {
        Py_DECREF(bytes);
        return -1;
    }
    Py_DECREF(bytes);
    s->signature_slots[slot] = (Slot){hash, (uint32_t)count + 1};
    return (long)count;
}

