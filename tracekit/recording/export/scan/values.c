/* Distinct values and patterns of missing cells, and the tags of elements. */

#include "scan.h"

static inline uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

uint32_t hash_of(const char *p, size_t length)
{
    uint64_t hash = length * UINT64_C(0x9E3779B97F4A7C15), other = hash, last = 0;
    const char *end = p + length;
    if (length < 8) {
        memcpy(&last, p, length);
    } else {
        for (; end - p > 16; p += 16) {
            hash = mixed(hash, word_at(p));
            other = mixed(other, word_at(p + 8));
        }
        if (end - p > 8)
            hash = mixed(hash, word_at(p));
        last = word_at(end - 8);
    }
    return (uint32_t)(mixed(mixed(hash, last), other) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static Slot *free_slots(size_t count)
{
    Slot *slots = NULL;
    if (count > PY_SSIZE_T_MAX / sizeof(Slot) || FAILS() || !(slots = PyMem_Calloc(count, sizeof(Slot))))
        PyErr_NoMemory();
    return slots ? in_large_pages(slots, count * sizeof(Slot)) : NULL;
}

/* Makes a table of slots larger, for `all` values if possible. It is never more than half full. */
int grow_slots(Slot **slots, size_t *count, size_t all)
{
    size_t larger = *count ? 2 * *count : 1024;
    Slot *grown;
    while (larger < MAX_SLOTS && larger <= all)
        larger *= 2;
    if (!(grown = free_slots(larger)))
        return 0;
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

const char *value_at(const Scanner *s, size_t index, size_t *length)
{
    size_t start = index ? s->ends[index - 1] : 0;
    *length = s->ends[index] - start;
    return s->bytes + start;
}

static int is_value(const Scanner *s, size_t index, const char *bytes, size_t length)
{
    size_t size;
    const char *known = value_at(s, index, &size);
    return size == length && !memcmp(known, bytes, length);
}

/* Adds a value; returns its index, -1 for an error. */
static int64_t add_value(Scanner *s, const char *where, const char *bytes, size_t length, uint32_t hash)
{
    size_t end = s->byte_count + length, count = s->value_count + 1;
    if (count >= INT32_MAX) {
        decline(s, where, "too many different values");
        return -1;
    }
    if (count > s->hash_capacity) {
        size_t wanted = expected(s, where, count, 0);
        if (!reserve(&s->ends, &s->end_capacity, wanted, sizeof *s->ends) ||
            !reserve(&s->uses, &s->use_capacity, wanted, sizeof *s->uses) ||
            !reserve(&s->hashes, &s->hash_capacity, wanted, sizeof *s->hashes))
            return -1;
    }
    /* One more than is needed, so that there is an array even if the first text is empty. */
    if (end >= s->byte_capacity && !reserve(&s->bytes, &s->byte_capacity, expected(s, where, end + 1, 0), 1))
        return -1;
    memcpy(s->bytes + s->byte_count, bytes, length);
    s->ends[s->value_count] = s->byte_count = end;
    s->uses[s->value_count] = 0;
    s->hashes[s->value_count] = hash;
    return (int64_t)s->value_count++;
}

/* Index of a text; -1 for an error. */
int64_t text_index(Scanner *s, const char *where, const char *bytes, size_t length)
{
    uint32_t hash = hash_of(bytes, length);
    Slot *recent = &s->recent[hash % RECENT];
    int64_t index;
    if (recent->next && recent->hash == hash && is_value(s, recent->next - 1, bytes, length))
        return (int64_t)recent->next - 1;
    index = add_value(s, where, bytes, length, hash);
    if (index >= 0)
        *recent = (Slot){hash, (uint32_t)index + 1};
    return index;
}

/* Index of a compound; -1 for an error. */
static int64_t compound_index(Scanner *s, const char *where, const char *bytes, size_t length)
{
    uint32_t hash = hash_of(bytes, length);
    size_t slot, probes = 0;
    int64_t index;
    if (2 * s->compound_count >= s->slot_count &&
        !grow_slots(&s->slots, &s->slot_count, expected(s, where, s->compound_count, 0)))
        return -1;
    for (slot = hash & (s->slot_count - 1); s->slots[slot].next; slot = (slot + 1) & (s->slot_count - 1)) {
        if (s->slots[slot].hash == hash && is_value(s, s->slots[slot].next - 1, bytes, length))
            return (int64_t)s->slots[slot].next - 1;
        if (++probes > MAX_PROBES) {
            decline(s, where, "values that collide");
            return -1;
        }
    }
    index = add_value(s, where, bytes, length, hash);
    if (index >= 0) {
        s->slots[slot] = (Slot){hash, (uint32_t)index + 1};
        s->compound_count++;
    }
    return index;
}

/* An array of 32-bit integers that count up from 0. */
static PyObject *identity(size_t count)
{
    PyObject *numbers = made(PyByteArray_FromStringAndSize(NULL, 0));
    if (!numbers || !resized(numbers, count * sizeof(uint32_t))) {
        Py_XDECREF(numbers);
        return NULL;
    }
    for (size_t k = 0; k < count; k++) {
        uint32_t number = (uint32_t)k;
        memcpy(PyByteArray_AsString(numbers) + k * sizeof number, &number, sizeof number);
    }
    return numbers;
}

/* Finds texts that are the same. `names` becomes an array of 32-bit integers, for each value the index of the first one
   that is the same, and stays NULL where each is its own. Returns 0 for an error. */
int find_same(Scanner *s, PyObject **names)
{
    const size_t ahead = 16;
    size_t slot_count = 1024, mask;
    Slot *slots;
    while (slot_count <= 2 * s->value_count)
        slot_count *= 2;
    if (!(slots = free_slots(slot_count)))
        return 0;
    mask = slot_count - 1;
    for (size_t k = 0; k < s->value_count; k++) {
        size_t slot = s->hashes[k] & mask, length, probes = 0;
        const char *bytes = value_at(s, k, &length);
        if (k + ahead < s->value_count)
            PREFETCH(&slots[s->hashes[k + ahead] & mask]);
        if (s->uses[k])
            continue;
        while (slots[slot].next &&
               (slots[slot].hash != s->hashes[k] || !is_value(s, slots[slot].next - 1, bytes, length))) {
            slot = (slot + 1) & mask;
            if (++probes > MAX_PROBES) {
                decline(s, s->region, "values that collide");
                break;
            }
        }
        if (probes > MAX_PROBES || (slots[slot].next && !*names && !(*names = identity(s->value_count))))
            break;
        if (slots[slot].next) {
            uint32_t first = slots[slot].next - 1;
            memcpy(PyByteArray_AsString(*names) + k * sizeof first, &first, sizeof first);
        } else {
            slots[slot] = (Slot){s->hashes[k], (uint32_t)k + 1};
        }
    }
    PyMem_Free(slots);
    return !PyErr_Occurred();
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
    index = compound_index(s, where, s->key, length);
    if (index >= 0 && s->uses[index] < UINT32_MAX)
        s->uses[index]++;
    return index;
}

static void describe(Tag *tag, const char *name, size_t length, int mode)
{
    memset(tag, 0, sizeof *tag);
    tag->length = length;
    tag->mode = mode;
    tag->start[0] = tag->end[0] = '<';
    tag->end[1] = '/';
    memcpy(tag->start + 1, name, length);
    memcpy(tag->end + 2, name, length);
    tag->start[1 + length] = ' ';
    tag->end[2 + length] = '>';
}

/* Number of the tag of that name, from 1; 0 for an error. Python is asked once what a tag means. */
unsigned tag_of(Scanner *s, const char *name, size_t length)
{
    PyObject *answer;
    long mode;
    size_t slot = hash_of(name, length) % TAG_SLOTS;
    for (; s->tag_slots[slot]; slot = (slot + 1) % TAG_SLOTS) {
        const Tag *tag = &s->tags[s->tag_slots[slot]];
        if (tag->length == length && memcmp(tag->start + 1, name, length) == 0)
            return s->tag_slots[slot];
    }
    if (s->tag_count >= MAX_TAGS || !reserve(&s->tags, &s->tag_capacity, s->tag_count + 2, sizeof *s->tags))
        return 0;
    answer = PyObject_CallMethod(s->host, "mode", "N", PyUnicode_FromStringAndSize(name, (Py_ssize_t)length));
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
