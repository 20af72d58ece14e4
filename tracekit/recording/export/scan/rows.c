/* Ids, elements and rows. */

#include "scan.h"

static const char *const attribute_starts[SLICES] = {
    "", "fmt=\"", "name=\"", "addr=\"", "UUID=\"", "arch=\"", "load-addr=\"", "path=\"", "line=\"",
};

/* Digits as an id, without sign or leading zero. */
static inline const char *id_number(Scanner *s, const char *p, uint64_t *number)
{
    const char *first = p;
    p = digits(p, number);
    return p == first || p - first > 15 || *first == '0' || *p != '"' ? decline(s, first, "an unexpected id") : p + 1;
}

/* Takes the next id, whose value is not known yet; ids start again at a table at most. */
static int begin_id(Scanner *s, const char *where, uint64_t number)
{
    if (number == 1 && s->first_id_of_table) {
        s->id_count = 0;
        s->has_before = 0; /* the same references mean something else */
        s->has_restarted = 1;
    }
    s->first_id_of_table = 0;
    if (number != s->id_count + 1) {
        decline(s, where, "an id out of order");
        return 0;
    }
    if (s->id_count + 2 > s->id_payload_capacity) {
        size_t wanted = expected(s, where, s->id_count + 2, 0);
        if (!reserve(&s->id_tags, &s->id_tag_capacity, wanted, sizeof *s->id_tags) ||
            !reserve(&s->id_payloads, &s->id_payload_capacity, wanted, sizeof *s->id_payloads))
            return 0;
    }
    s->id_tags[++s->id_count] = 0;
    return 1;
}

/* Behind the end tag of an element; NULL where there is another one. */
static inline const char *end_of(const Scanner *s, const char *p, unsigned tag)
{
    size_t length = s->tags[tag].length + 3;
    return is_at(p, s->tags[tag].end, length) ? p + length : NULL;
}

/* Behind <sentinel/>, also as <sentinel /> or with an end tag; NULL where p is at something else. */
static inline const char *behind_sentinel(const char *p)
{
    if (AT(p, "<sentinel/>"))
        return p + sizeof "<sentinel/>" - 1;
    if (!AT(p, "<sentinel"))
        return NULL;
    p = skip_blanks(p + sizeof "<sentinel" - 1);
    if (AT(p, "/>"))
        return p + 2;
    return *p == '>' && AT(p + 1, "</sentinel>") ? p + sizeof "</sentinel>" : NULL;
}

/* The rest of <tag ref="..."/> from the digits on. */
static inline const char *reference(Scanner *s, const char *p, unsigned tag, int64_t *payload)
{
    const char *start = p;
    uint64_t number;
    if (!(p = id_number(s, p, &number)))
        return NULL;
    if (AT(p, "/>"))
        p += 2;
    else if (*(p = skip_blanks(p)) == '>' ? !(p = end_of(s, p + 1, tag)) : !AT(p, "/>"))
        return decline(s, start, "an unexpected attribute or content");
    else if (*p == '/')
        p += 2;
    if (!s->keeps)
        return p;
    if (number > s->id_count || s->id_tags[number] != tag)
        return decline(s, start, "a reference to something else or to what follows");
    *payload = s->id_payloads[number];
    return p;
}

/* Digits as a 64-bit number, unsigned ones above 2^63 - 1 in two's complement. */
static const char *whole_number(Scanner *s, const char *p, int is_time, int64_t *payload)
{
    const char *first = p;
    int is_negative = *p == '-';
    uint64_t value;
    p = digits(p + is_negative, &value);
    if (p == first + is_negative || *p != '<')
        return decline(s, first, "something other than a whole number");
    if (is_time ? is_negative || value > MAX_TIME : is_negative && value > UINT64_C(1) << 63)
        return decline(s, first, "a number out of range");
    *payload = (int64_t)(is_negative ? 0 - value : value);
    return p;
}

static const char *definition(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload);

/* An element of that tag; `payload` is its number, or the index of its value. NULL without an exception where p is at
   something else. */
static inline const char *element(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload)
{
    const Tag *known = &s->tags[tag];
    const char *behind = p + 1 + known->length;
    if (is_at(p, known->start, known->length + 2)) {
        if (AT(behind, " ref=\""))
            return reference(s, behind + 6, tag, payload);
    } else if (!is_at(p, known->start, known->length + 1) || (*behind != '>' && *behind != '/' && *behind > ' ')) {
        return NULL;
    }
    return definition(s, behind, tag, depth, payload);
}

/* The elements inside an element, from the first "<" on; ends behind the last of them. They are taken for those of the
   element of that tag before, and looked up where they are not. */
static const char *children(Scanner *s, const char *p, unsigned parent, int depth)
{
    unsigned before = 0;
    while (!AT(p, "</")) {
        int64_t payload = 0;
        unsigned tag = before ? s->tags[before].behind : s->tags[parent].inside;
        const char *behind = NULL;
        if (*p != '<')
            return decline(s, p, "text between elements");
        if (depth >= MAX_DEPTH || ++s->part_total > MAX_PARTS)
            return decline(s, p, "too many elements in one row");
        if ((behind = behind_sentinel(p))) {
            p = skip_blanks(behind);
            continue;
        }
        if (tag && !(behind = element(s, p, tag, depth + 1, &payload)) && PyErr_Occurred())
            return NULL;
        if (!behind) {
            if (!tag_name(s, p + 1, &tag))
                return NULL;
            if (!(behind = element(s, p, tag, depth + 1, &payload)))
                return decline(s, p, "an unexpected element");
            *(before ? &s->tags[before].behind : &s->tags[parent].inside) = (uint16_t)tag;
        }
        before = tag;
        if (!reserve(&s->parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts))
            return NULL;
        s->parts[s->part_count].tag = tag;
        s->parts[s->part_count++].payload = payload;
        p = skip_blanks(behind);
    }
    return p;
}

/* As `characters`, where a run of ASCII without references is likely. */
static inline const char *likely_plain(Scanner *s, const char *p, char ending, Slice *slice)
{
    const char *end = skip_plain(p);
    if (*end != ending || end - p > MAX_TEXT)
        return characters(s, p, ending, slice);
    *slice = (Slice){p, (size_t)(end - p), 0};
    return end;
}

/* Attributes of a definition from p on; `number` is 0 where its id may still follow. */
static const char *attributes_of(Scanner *s, const char *p, Slice *slices, uint64_t *number)
{
    const char *next = skip_blanks(p);
    for (; next != p && *next != '>' && *next != '/'; next = skip_blanks(p)) {
        int k = FMT;
        if (!*number && AT(next, "id=\"")) {
            if (!(p = id_number(s, next + 4, number)))
                return NULL;
            continue;
        }
        while (k < SLICES && memcmp(next, attribute_starts[k], strlen(attribute_starts[k])))
            k++;
        if (k == SLICES || slices[k].start)
            return decline(s, p, "an unexpected attribute");
        if (!(p = characters(s, next + strlen(attribute_starts[k]), '"', &slices[k])))
            return NULL;
        p++;
    }
    return next;
}

/* An element that is a number, from behind its attributes on. */
static inline const char *number_of(Scanner *s, const char *p, unsigned tag, int64_t *payload)
{
    const char *behind;
    if (*p != '>')
        return decline(s, p, AT(p, "/>") ? "a number without digits" : "an unexpected attribute");
    if (!(p = whole_number(s, p + 1, s->tags[tag].mode == TIME, payload)))
        return NULL;
    return (behind = end_of(s, p, tag)) ? behind : decline(s, p, "an unexpected end of an element");
}

/* An element that is text or has parts, from behind its attributes on. */
static const char *value_of(Scanner *s, const char *p, unsigned tag, int depth, Slice *slices, int64_t *payload)
{
    const char *start = p, *behind;
    Slice *shown = NULL;
    size_t first = s->part_count;
    int has_children = 0, mode = s->keeps ? s->tags[tag].mode : MODES;
    if (mode == LABEL && slices[FMT].start && slices[FMT].length)
        shown = &slices[FMT];
    if (AT(p, "/>")) {
        p += 2;
    } else {
        if (*p != '>')
            return decline(s, p, "an unexpected attribute");
        if (!(p = likely_plain(s, p + 1, '<', &slices[CONTENT])))
            return NULL;
        if (!AT(p, "</")) {
            has_children = 1;
            if (skip_blanks(slices[CONTENT].start) != p)
                return decline(s, p, "text beside elements");
            if (!(p = children(s, p, tag, depth)))
                return NULL;
        }
        if (!slices[CONTENT].length || has_children)
            slices[CONTENT].start = NULL;
        if (!(behind = end_of(s, p, tag)))
            return decline(s, p, "an unexpected end of an element");
        p = behind;
    }
    if (mode == TEXT && !has_children)
        shown = &slices[slices[CONTENT].start ? CONTENT : FMT];
    if (shown && shown->start && shown->escaped)
        resolve(s, shown);
    if (shown)
        *payload = text_index(s, start, shown->start ? shown->start : "", shown->start ? shown->length : 0);
    else if (mode != MODES)
        *payload = compound(s, start, tag, first, slices);
    s->part_count = first;
    return *payload < 0 ? NULL : p;
}

static const char *definition(Scanner *s, const char *p, unsigned tag, int depth, int64_t *payload)
{
    const char *start = p;
    Slice slices[SLICES];
    uint64_t number = 0;
    size_t id;
    s->has_defined = 1;
    slices[FMT].start = NULL;
    if (AT(p, " id=\"")) {
        if (!(p = id_number(s, p + 5, &number)))
            return NULL;
    } else if (*p <= ' ' && AT(skip_blanks(p), "ref=\"")) {
        return reference(s, skip_blanks(p) + 5, tag, payload);
    }
    /* Numbers have no other attribute, and hardly anything else does. */
    if (AT(p, " fmt=\"")) {
        if (!(p = likely_plain(s, p + 6, '"', &slices[FMT])))
            return NULL;
        p++;
    }
    if (*p != '>' || s->tags[tag].mode > TIME) {
        for (int k = 0; k < SLICES; k++)
            if (k != FMT)
                slices[k].start = NULL;
        if (!(p = attributes_of(s, p, slices, &number)))
            return NULL;
    }
    if (number && s->keeps && !begin_id(s, start, number))
        return NULL;
    id = s->id_count;
    p = s->tags[tag].mode <= TIME ? number_of(s, p, tag, payload) : value_of(s, p, tag, depth, slices, payload);
    if (p && number && s->keeps) {
        s->id_tags[id] = (uint16_t)tag;
        s->id_payloads[id] = *payload;
    }
    return p;
}

/* Keeps the number of the signature of the row, whose payloads are already in place. */
static int end_row(Scanner *s, const char *where, int is_as_before)
{
    uint16_t number;
    if (s->rows == 0 || !is_as_before) {
        long found = signature_number(s, where);
        if (found < 0)
            return 0;
        s->last_number = (unsigned)found;
    }
    number = (uint16_t)s->last_number;
    memcpy(PyByteArray_AsString(s->signature_numbers) + s->rows * sizeof number, &number, sizeof number);
    return 1;
}

/* The cell of a column; `tag` is 0 where it holds no value. */
static inline const char *cell(Scanner *s, const char *p, const Column *column, unsigned *tag, int64_t *payload)
{
    const char *behind;
    *payload = 0;
    *tag = column->tag;
    if (*tag && (behind = element(s, p, *tag, 0, payload)))
        return behind;
    if ((behind = behind_sentinel(p))) {
        *tag = 0;
        return behind;
    }
    if (*tag)
        return decline(s, p, "a cell that its column does not announce");
    if (*p != '<')
        return decline(s, p, "text between cells");
    if (!tag_name(s, p + 1, tag))
        return NULL;
    return (behind = element(s, p, *tag, 0, payload)) ? behind : decline(s, p, "an unexpected element");
}

/* Takes over the cells that are the same as in the row before, from that of column `k` on, and sets it to the first one
   that is not. What is the same ends before this row does, since none of the cells before holds "</row>". */
static inline const char *repeated(Scanner *s, const char *p, size_t *k)
{
    Before *cell = &s->before[*k];
    const Column *column = &s->columns[*k];
    const char *from = cell->start;
    size_t same = same_bytes(p, from, (size_t)(s->before[s->column_count].start - from));
    for (; cell->repeats && (size_t)(cell[1].start - from) <= same; cell++, column++) {
        cell->start = p + (cell->start - from);
        if (column->cells) {
            char *to = column->cells + s->rows * column->width;
            if (column->width == sizeof(int64_t))
                memcpy(to, to - sizeof(int64_t), sizeof(int64_t));
            else
                memcpy(to, to - sizeof(int32_t), sizeof(int32_t));
        }
    }
    *k = (size_t)(cell - s->before);
    return skip_blanks(p + (cell->start - from));
}

/* Puts the payload of a cell in its place. */
static inline int keep(Scanner *s, Column *column, int64_t payload)
{
    if (!column->cells) {
        if (!s->rows)
            column->same = payload;
        return payload == column->same || differs(s, column, payload);
    }
    if (column->width == sizeof payload) {
        memcpy(column->cells + s->rows * sizeof payload, &payload, sizeof payload);
    } else {
        int32_t index = (int32_t)payload;
        memcpy(column->cells + s->rows * sizeof index, &index, sizeof index);
    }
    return 1;
}

/* One row from its "<row>" to behind its "</row>". */
const char *row(Scanner *s, const char *p)
{
    const char *start = p;
    int is_as_before = 1;
    if (!AT(p, "<row>"))
        return decline(s, p, "a row with attributes or without cells");
    if (s->rows >= MAX_ROWS)
        return decline(s, p, "too many rows");
    if (s->keeps && s->rows == s->row_capacity && !reserve_row(s, p))
        return NULL;
    s->part_count = s->part_total = s->decoded_length = 0;
    s->has_restarted = 0;
    p = skip_blanks(p + 5);
    for (size_t k = 0; k < s->column_count; k++) {
        unsigned tag;
        int64_t payload;
        if (s->has_before && s->before[k].repeats) {
            p = repeated(s, p, &k);
            if (k == s->column_count)
                break;
        }
        s->before[k].start = p;
        s->has_defined = 0;
        if (!(p = cell(s, p, &s->columns[k], &tag, &payload)))
            return NULL;
        s->before[k].repeats = !s->has_defined;
        if (s->keeps) {
            is_as_before &= s->signature[k] == tag;
            s->signature[k] = (uint16_t)tag;
            if (!keep(s, &s->columns[k], payload))
                return NULL;
        }
        p = skip_blanks(p);
    }
    if (!AT(p, "</row>"))
        return decline(s, p, "a cell that no column announces");
    if (s->keeps && !end_row(s, start, is_as_before))
        return NULL;
    s->before[s->column_count].start = p;
    s->before[s->column_count].repeats = 0;
    s->has_before = !s->has_restarted;
    s->rows++;
    return p + 6;
}
