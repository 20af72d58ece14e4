/* Ids, elements and rows. */

#include "scan.h"

static const char *const attribute_starts[ATTRIBUTES] = {
    " fmt=\"", " name=\"", " addr=\"", " UUID=\"", " arch=\"", " load-addr=\"", " path=\"", " line=\"",
};

/* Digits as an id, without sign or leading zero. */
static const char *id_number(Scanner *s, const char *p, uint64_t *number)
{
    const char *first = p;
    uint64_t value = 0;
    for (unsigned digit; (digit = (unsigned char)*p - (unsigned)'0') <= 9; p++)
        value = 10 * value + digit;
    *number = value;
    return p == first || p - first > 15 || *first == '0' || *p != '"' ? decline(s, first, "an unexpected id") : p + 1;
}

/* Takes the next id, whose value is not known yet; ids start again at a table at most. */
static int begin_id(Scanner *s, const char *where, uint64_t number)
{
    if (number == 1 && s->first_id_of_table)
        s->id_count = 0;
    s->first_id_of_table = 0;
    if (number != s->id_count + 1) {
        decline(s, where, "an id out of order");
        return 0;
    }
    if (!reserve(&s->id_tags, &s->id_tag_capacity, s->id_count + 2, sizeof *s->id_tags) ||
        !reserve(&s->id_payloads, &s->id_payload_capacity, s->id_count + 2, sizeof *s->id_payloads))
        return 0;
    s->id_tags[++s->id_count] = 0;
    return 1;
}

/* The rest of <tag ref="..."/> from the digits on. */
static inline const char *reference(Scanner *s, const char *p, unsigned tag, int64_t *payload)
{
    const char *start = p;
    uint64_t number;
    if (!(p = id_number(s, p, &number)))
        return NULL;
    if (!AT(p, "/>"))
        return decline(s, p, "an unexpected attribute or content");
    if (!s->keeps)
        return p + 2;
    if (number > s->id_count || s->id_tags[number] != tag)
        return decline(s, start, "a reference to something else or to what follows");
    *payload = s->id_payloads[number];
    return p + 2;
}

/* Digits as a 64-bit number, unsigned ones above 2^63 - 1 in two's complement. */
static const char *whole_number(Scanner *s, const char *p, int is_time, int64_t *payload)
{
    const char *first = p, *digits = p + (*p == '-');
    uint64_t value = 0;
    unsigned digit;
    for (p = digits; (digit = (unsigned char)*p - (unsigned)'0') <= 9 && p - digits < 19; p++)
        value = 10 * value + digit;
    if (digit <= 9 && value <= (UINT64_MAX - digit) / 10) {
        value = 10 * value + digit; /* the twentieth */
        p++;
    }
    if (p == digits || *p != '<')
        return decline(s, first, "something other than a whole number");
    if (is_time ? digits > first || value > MAX_TIME : digits > first && value > UINT64_C(1) << 63)
        return decline(s, first, "a number out of range");
    *payload = (int64_t)(digits > first ? 0 - value : value);
    return p;
}

/* The bytes of a compound: its tag, the number of its parts, the length of its text and of each attribute plus one (0
   where there is none), the parts, then text and attributes. Returns the index of the value; -1 for an error. */
static int64_t compound(Scanner *s, const char *where, unsigned tag, size_t first, Slice text, Slice *attributes)
{
    size_t count = s->part_count - first, length = 0;
    int64_t head[3 + ATTRIBUTES] = {tag, (int64_t)count};
    Slice slices[1 + ATTRIBUTES];
    char *to;
    int64_t index;
    slices[0] = plain(s, text);
    for (int k = 0; k < ATTRIBUTES; k++)
        slices[1 + k] = plain(s, attributes[k]);
    for (int k = 0; k < 1 + ATTRIBUTES; k++) {
        head[2 + k] = slices[k].start ? (int64_t)slices[k].length + 1 : 0;
        length += slices[k].start ? slices[k].length : 0;
    }
    length += sizeof head + count * sizeof(Part);
    if (!reserve(&s->key, &s->key_capacity, length, 1))
        return -1;
    memcpy(s->key, head, sizeof head);
    if (count)
        memcpy(s->key + sizeof head, s->parts + first, count * sizeof(Part));
    to = s->key + sizeof head + count * sizeof(Part);
    for (int k = 0; k < 1 + ATTRIBUTES; k++)
        if (slices[k].start) {
            memcpy(to, slices[k].start, slices[k].length);
            to += slices[k].length;
        }
    index = interned(s, where, s->key, length, 0);
    if (index >= 0 && s->uses[index] < UINT32_MAX)
        s->uses[index]++;
    return index;
}

static const char *definition(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload);

/* One element from behind its name on. `payload` is its number, or the index of its value. */
static inline const char *element(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload)
{
    if (AT(p, " ref=\""))
        return reference(s, p + 6, tag, payload);
    return definition(s, p, tag, depth, payload);
}

/* Whether the name of the tag stands at p, with at least one more byte behind it. */
static inline int is_named(const Scanner *s, const char *p, const Tag *tag)
{
    const char *name = tag->name;
    size_t length = tag->length;
    if ((size_t)(s->end - p) <= length)
        return 0;
    for (; length >= 8; p += 8, name += 8, length -= 8) {
        uint64_t one, other;
        memcpy(&one, p, 8);
        memcpy(&other, name, 8);
        if (one != other)
            return 0;
    }
    while (length && *p == *name)
        p++, name++, length--;
    return !length;
}

/* The elements inside an element, from the first "<" on; ends behind the last of them. */
static const char *children(Scanner *s, const char *p, int depth)
{
    while (!AT(p, "</")) {
        Part part = {0, 0};
        unsigned tag = 0;
        if (*p != '<')
            return decline(s, p, "text between elements");
        if (depth >= MAX_DEPTH || ++s->part_total > MAX_PARTS)
            return decline(s, p, "too many elements in one row");
        if (AT(p, "<sentinel/>")) {
            p = skip_blanks(p + sizeof "<sentinel/>" - 1);
            continue;
        }
        if (!(p = tag_name(s, p + 1, &tag)) || !(p = element(s, p, tag, depth + 1, &part.payload)))
            return NULL;
        part.tag = tag;
        if (!reserve(&s->parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts))
            return NULL;
        s->parts[s->part_count++] = part;
        p = skip_blanks(p);
    }
    return p;
}

/* Attributes of a definition. `number` is its id, 0 where it has none. */
static const char *attributes_of(Scanner *s, const char *p, uint64_t *number, Slice *attributes)
{
    while (*p == ' ') {
        int k;
        if (AT(p, " id=\"") && !*number) {
            if (!(p = id_number(s, p + 5, number)))
                return NULL;
            continue;
        }
        for (k = AT(p, " fmt=\"") ? FMT : FMT + 1; k < ATTRIBUTES; k++)
            if (!attributes[k].start && at(s, p, attribute_starts[k]))
                break;
        if (k == ATTRIBUTES)
            return decline(s, p, "an unexpected attribute");
        if (!(p = characters(s, p + strlen(attribute_starts[k]), ENDS_VALUE, &attributes[k])))
            return NULL;
        p++;
    }
    return p;
}

static const char *definition(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload)
{
    const char *start = p;
    Slice attributes[ATTRIBUTES], text = {NULL, 0, 0};
    uint64_t number = 0;
    size_t id, first = s->part_count;
    int has_children = 0, mode = s->tags[tag].mode;
    for (int k = 0; k < ATTRIBUTES; k++)
        attributes[k].start = NULL;
    if (!(p = attributes_of(s, p, &number, attributes)))
        return NULL;
    if (number && s->keeps && !begin_id(s, start, number))
        return NULL;
    id = s->id_count;
    if (AT(p, "/>")) {
        p += 2;
    } else if (*p != '>') {
        return decline(s, p, "an unexpected attribute");
    } else {
        p++;
        if (mode <= TIME) {
            p = whole_number(s, p, mode == TIME, payload);
        } else if ((p = characters(s, p, ENDS_TEXT, &text)) && !AT(p, "</")) {
            has_children = 1;
            if (skip_blanks(text.start) != p)
                return decline(s, p, "text beside elements");
            p = children(s, p, depth);
        }
        if (!text.length || has_children)
            text.start = NULL;
        if (!p)
            return NULL;
        if (!AT(p, "</") || !is_named(s, p + 2, &s->tags[tag]) || p[2 + s->tags[tag].length] != '>')
            return decline(s, p, "an unexpected end of an element");
        p += s->tags[tag].length + 3;
    }
    if (mode <= TIME && p[-2] == '/')
        return decline(s, start, "a number without digits");
    if (s->keeps && mode > TIME) {
        if (mode == TEXT && !has_children)
            text = plain(s, text.start ? text : attributes[FMT]);
        else if (mode == LABEL && attributes[FMT].start && attributes[FMT].length)
            text = plain(s, attributes[FMT]);
        else
            mode = COMPOUND;
        *payload = mode == COMPOUND ? compound(s, start, tag, first, text, attributes)
                                    : interned(s, start, text.start ? text.start : "", text.start ? text.length : 0, 1);
        if (*payload < 0)
            return NULL;
    }
    s->part_count = first;
    if (number && s->keeps) {
        s->id_tags[id] = (uint16_t)tag;
        s->id_payloads[id] = *payload;
    }
    return p;
}

/* Number of the signature of the row just read: the tag of each cell, 0 where it holds no value. -1 for an error. */
static long signature_number(Scanner *s, const char *where)
{
    size_t size = s->column_count * sizeof *s->signature, slot, count = (size_t)PyList_Size(s->signatures);
    uint32_t hash = hash_of((const char *)s->signature, size);
    PyObject *bytes;
    if (!grow_slots(&s->signature_slots, &s->signature_slot_count, count))
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

static int reserve_row(Scanner *s)
{
    size_t wanted = s->row_capacity + s->row_capacity / 2 + 256;
    if (s->rows < s->row_capacity)
        return 1;
    for (size_t k = 0; k < s->column_count; k++) {
        if (!resized(s->columns[k].payloads, wanted * s->columns[k].width))
            return 0;
        s->columns[k].cells = PyByteArray_AsString(s->columns[k].payloads);
    }
    if (!resized(s->signature_numbers, wanted * sizeof(uint16_t)))
        return 0;
    s->row_capacity = wanted;
    return 1;
}

/* Keeps the cells of the row, whose payloads are already in place. */
static int end_row(Scanner *s, const char *where)
{
    uint16_t number;
    size_t size = s->column_count * sizeof *s->signature;
    if (s->rows == 0 || memcmp(s->signature, s->last_signature, size) != 0) {
        long found = signature_number(s, where);
        if (found < 0)
            return 0;
        s->last_number = (unsigned)found;
        memcpy(s->last_signature, s->signature, size);
    }
    number = (uint16_t)s->last_number;
    memcpy(PyByteArray_AsString(s->signature_numbers) + s->rows * sizeof number, &number, sizeof number);
    return 1;
}

/* One row from its "<row>" to behind its "</row>". */
const char *row(Scanner *s, const char *p)
{
    const char *start = p;
    if (!AT(p, "<row>"))
        return decline(s, p, "a row with attributes or without cells");
    if (s->rows >= MAX_ROWS)
        return decline(s, p, "too many rows");
    if (s->keeps && !reserve_row(s))
        return NULL;
    s->part_count = s->part_total = s->decoded_length = 0;
    p = skip_blanks(p + 5);
    for (size_t k = 0; k < s->column_count; k++) {
        Column *column = &s->columns[k];
        unsigned tag = column->tag;
        int64_t payload = 0;
        if (AT(p, "<sentinel/>")) {
            tag = 0;
            p += sizeof "<sentinel/>" - 1;
        } else {
            if (*p != '<')
                return decline(s, p, "text between cells");
            if (!tag) {
                p = tag_name(s, p + 1, &tag);
            } else {
                size_t length = s->tags[tag].length;
                if (!is_named(s, p + 1, &s->tags[tag]) ||
                    (p[length + 1] != ' ' && p[length + 1] != '>' && p[length + 1] != '/'))
                    return decline(s, p, "a cell that its column does not announce");
                p += length + 1;
            }
            if (!p || !(p = element(s, p, tag, 0, &payload)))
                return NULL;
        }
        if (s->keeps) {
            s->signature[k] = (uint16_t)tag;
            if (column->width == sizeof payload) {
                memcpy(column->cells + s->rows * sizeof payload, &payload, sizeof payload);
            } else {
                int32_t index = (int32_t)payload;
                memcpy(column->cells + s->rows * sizeof index, &index, sizeof index);
            }
        }
        p = skip_blanks(p);
    }
    if (!AT(p, "</row>"))
        return decline(s, p, "a cell that no column announces");
    if (s->keeps && !end_row(s, start))
        return NULL;
    s->rows++;
    return p + 6;
}
