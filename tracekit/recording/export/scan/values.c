/* Distinct values and patterns of missing cells, and the tags of elements. */

#include "scan.h"

uint32_t hash_of(const char *p, size_t length)
{
    uint64_t hash = length * UINT64_C(0x9E3779B97F4A7C15), word;
    for (; length >= 8; p += 8, length -= 8) {
        memcpy(&word, p, 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, p, length);
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash >> 32);
}

/* Hash of a text, whose slot is on its way to the processor from then on. */
uint32_t prefetched(const Scanner *s, const Slice *text)
{
    uint32_t hash = hash_of(text->start, text->length) + 1;
    if (s->slot_count)
        PREFETCH(&s->slots[hash & (s->slot_count - 1)]);
    return hash;
}

/* Makes a table of slots larger, for `all` values if possible. It is never more than half full. */
int grow_slots(Slot **slots, size_t *count, size_t all)
{
    size_t larger = *count ? 2 * *count : 1024;
    Slot *grown;
    while (larger < MAX_SLOTS && larger <= all)
        larger *= 2;
    if (larger > PY_SSIZE_T_MAX / sizeof(Slot) || FAILS() || !(grown = PyMem_Calloc(larger, sizeof(Slot)))) {
        PyErr_NoMemory();
        return 0;
    }
    in_large_pages(grown, larger * sizeof(Slot));
    for (size_t k = 0; k < *count; k++)
        if ((*slots)[k].next) {
            size_t slot = (*slots)[k].hash & (larger - 1);
            while (grown[slot].next)
                slot = (slot + 1) & (larger - 1);
            grown[slot] = (*slots)[k];
        }
    PyMem_Free(*slots);
    *slots = grown;
    *count = larger;
    return 1;
}

/* 1 where the value has these bytes, 0 where it has others, -1 for an error. */
static int has_bytes(PyObject *value, const char *bytes, size_t length, int is_text)
{
    Py_ssize_t size;
    const char *known;
    if (PyUnicode_Check(value) != is_text)
        return 0;
    if (!is_text)
        return (size_t)PyBytes_Size(value) == length && memcmp(PyBytes_AsString(value), bytes, length) == 0;
    if (!(known = PyUnicode_AsUTF8AndSize(value, &size)))
        return -1;
    return (size_t)size == length && memcmp(known, bytes, length) == 0;
}

/* Index of a value among the distinct ones; -1 for an error. `hash` is that of its bytes. */
int64_t interned(Scanner *s, const char *where, const char *bytes, size_t length, uint32_t hash, int is_text)
{
    PyObject *value;
    size_t slot, probes = 0;
    if (2 * s->value_count >= s->slot_count &&
        !grow_slots(&s->slots, &s->slot_count, expected(s, where, s->value_count, 0)))
        return -1;
    for (slot = hash & (s->slot_count - 1); s->slots[slot].next; slot = (slot + 1) & (s->slot_count - 1)) {
        if (s->slots[slot].hash == hash) {
            int same = has_bytes(s->values[s->slots[slot].next - 1], bytes, length, is_text);
            if (same)
                return same < 0 ? -1 : (int64_t)s->slots[slot].next - 1;
        }
        if (++probes > MAX_PROBES) {
            decline(s, where, "values that collide");
            return -1;
        }
    }
    if (s->value_count >= INT32_MAX - 1) {
        decline(s, where, "too many different values");
        return -1;
    }
    if (!reserve(&s->values, &s->value_capacity, s->value_count + 1, sizeof *s->values) ||
        !reserve(&s->uses, &s->use_capacity, s->value_count + 1, sizeof *s->uses))
        return -1;
    value = made(is_text ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, NULL)
                         : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length));
    if (!value)
        return -1;
    s->values[s->value_count] = value;
    s->uses[s->value_count] = 0;
    s->slots[slot] = (Slot){hash, (uint32_t)++s->value_count};
    return (int64_t)s->value_count - 1;
}

/* The bytes of a compound: its tag, the number of its parts, the length of its text and of each attribute plus one (0
   where there is none), the parts, then text and attributes. Returns the index of the value; -1 for an error. */
int64_t compound(Scanner *s, const char *where, unsigned tag, size_t first, Slice *slices)
{
    size_t count = s->part_count - first, length = 0;
    int64_t head[2 + SLICES] = {tag, (int64_t)count}, index;
    char *to;
    for (int k = 0; k < SLICES; k++) {
        if (!slices[k].start)
            continue;
        if (slices[k].escaped)
            resolve(s, &slices[k]);
        head[2 + k] = (int64_t)slices[k].length + 1;
        length += slices[k].length;
    }
    length += sizeof head + count * sizeof(Part);
    if (!reserve(&s->key, &s->key_capacity, length, 1))
        return -1;
    memcpy(s->key, head, sizeof head);
    if (count)
        memcpy(s->key + sizeof head, s->parts + first, count * sizeof(Part));
    to = s->key + sizeof head + count * sizeof(Part);
    for (int k = 0; k < SLICES; k++)
        if (slices[k].start) {
            memcpy(to, slices[k].start, slices[k].length);
            to += slices[k].length;
        }
    index = interned(s, where, s->key, length, hash_of(s->key, length), 0);
    if (index >= 0 && s->uses[index] < UINT32_MAX)
        s->uses[index]++;
    return index;
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

static void describe(Tag *tag, const char *name, size_t length, int mode)
{
    static const char attribute[] = " ref=\"";
    size_t rest = (1 + length + sizeof attribute - 1) % 8;
    memset(tag, 0, sizeof *tag);
    memcpy(tag->name, name, length);
    tag->length = length;
    tag->mode = mode;
    tag->refers[0] = '<';
    memcpy(tag->refers + 1, name, length);
    memcpy(tag->refers + 1 + length, attribute, sizeof attribute - 1);
    tag->refers_length = 1 + length + sizeof attribute - 1;
    tag->refers_mask = rest ? UINT64_MAX >> (64 - 8 * rest) : 0;
}

/* Number of the tag of that name, from 1; 0 for an error. Python is asked once what a tag means. */
unsigned tag_of(Scanner *s, const char *name, size_t length)
{
    PyObject *answer;
    long mode;
    size_t slot = hash_of(name, length) % TAG_SLOTS;
    for (; s->tag_slots[slot]; slot = (slot + 1) % TAG_SLOTS) {
        const Tag *tag = &s->tags[s->tag_slots[slot]];
        if (tag->length == length && memcmp(tag->name, name, length) == 0)
            return s->tag_slots[slot];
    }
    if (s->tag_count >= MAX_TAGS || !reserve(&s->tags, &s->tag_capacity, s->tag_count + 2, sizeof *s->tags))
        return 0;
    answer = PyObject_CallMethod(s->host, "mode", "s#", name, (Py_ssize_t)length);
    if (!answer)
        return 0;
    mode = PyLong_AsLong(answer);
    Py_DECREF(answer);
    if (mode < 0 || mode >= MODES) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no such mode");
        return 0;
    }
    s->tag_slots[slot] = (uint16_t)++s->tag_count;
    describe(&s->tags[s->tag_count], name, length, (int)mode);
    return s->tag_slots[slot];
}

/* The name behind a "<", and the number of its tag. */
const char *tag_name(Scanner *s, const char *p, unsigned *tag)
{
    const char *name = p;
    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
           (p > name && ((*p >= '0' && *p <= '9') || *p == '-')))
        p++;
    if (p == name || p - name >= MAX_NAME)
        return decline(s, name, "an unexpected element");
    *tag = tag_of(s, name, (size_t)(p - name));
    return *tag ? p : decline(s, name, "too many kinds of elements");
}
