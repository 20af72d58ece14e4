/* Chunks of a file: which rows are complete, and what stands between them. */

#include "scan.h"

/* Everything from `region` to `end`, which lies behind a "</row>"; what stands between rows goes to Python. */
static int scan_region(Scanner *s, const char *region, const char *end)
{
    const char *p = region;
    s->region = region;
    s->end = end;
    if (!reserve(&s->decoded, &s->decoded_capacity, (size_t)(end - region), 1))
        return 0;
    while (p < end) {
        const char *markup = p;
        p = skip_blanks(p);
        if (p == end)
            break;
        if (!AT(p, "<row>") || !s->has_table) {
            PyObject *answer;
            while (p < end && !AT(p, "<row"))
                p++;
            if (p == end)
                return decline(s, markup, "an end of a row that never began") != NULL;
            s->has_table = 0;
            answer = PyObject_CallMethod(s->host, "between", "y#", markup, (Py_ssize_t)(p - markup));
            if (!answer)
                return 0;
            Py_DECREF(answer);
            if (!s->has_table)
                return decline(s, p, "a row outside of a table") != NULL;
        }
        if (!(p = row(s, p)))
            return 0;
    }
    s->consumed += (uint64_t)(end - region);
    return 1;
}

static const char row_end[] = "</row>";
#define ROW_END (sizeof row_end - 1)

/* Behind the last "</row>" before `end`; NULL where there is none. */
static const char *last_row_end(const char *start, const char *end)
{
    for (const char *p = end; (size_t)(p - start) >= ROW_END; p--)
        if (p[-1] == '>' && memcmp(p - ROW_END, row_end, ROW_END) == 0)
            return p;
    return NULL;
}

/* Behind the first "</row>"; NULL where there is none. */
static const char *first_row_end(const char *start, const char *end)
{
    for (const char *p = start; (size_t)(end - p) >= ROW_END; p++)
        if (*p == '<' && memcmp(p, row_end, ROW_END) == 0)
            return p + ROW_END;
    return NULL;
}

/* Keeps bytes for later, with a final 0 that stops every loop. */
static int keep(Scanner *s, const char *bytes, size_t length)
{
    if (s->pending_length + length > MAX_PENDING) {
        s->region = s->pending;
        return decline(s, s->pending, "a long row") != NULL;
    }
    if (!reserve(&s->pending, &s->pending_capacity, s->pending_length + length + 1, 1))
        return 0;
    memcpy(s->pending + s->pending_length, bytes, length);
    s->pending_length += length;
    s->pending[s->pending_length] = 0;
    return 1;
}

/* Scans what was kept, as far as its last row, and keeps the rest. */
int scan_pending(Scanner *s)
{
    const char *end = s->pending ? last_row_end(s->pending, s->pending + s->pending_length) : NULL;
    if (!end)
        return 1;
    if (!scan_region(s, s->pending, end))
        return 0;
    s->pending_length -= (size_t)(end - s->pending);
    memmove(s->pending, end, s->pending_length + 1);
    return 1;
}

int feed(Scanner *s, const char *chunk, size_t length)
{
    const char *end = chunk + length, *last;
    if (s->pending_length) {
        /* The row that the last chunk began ends here; only that row is copied. */
        const char *first = first_row_end(chunk, end);
        if (!keep(s, chunk, (size_t)((first ? first : end) - chunk)) || !scan_pending(s))
            return 0;
        if (!first)
            return 1;
        chunk = first;
    }
    last = last_row_end(chunk, end);
    if (last && !scan_region(s, chunk, last))
        return 0;
    return keep(s, last ? last : chunk, (size_t)(end - (last ? last : chunk)));
}
