/* What is in the buffer: which rows are complete, and what stands between them. */

#include "scan.h"

/* Behind the last "</row>" before `end`; NULL where there is none. */
static const char *last_row_end(const char *start, const char *end)
{
    static const char row_end[] = "</row>";
    const ptrdiff_t length = sizeof row_end - 1;
    for (const char *p = end; p - start >= length; p--)
        if (p[-1] == '>' && memcmp(p - length, row_end, (size_t)length) == 0)
            return p;
    return NULL;
}

/* Everything as far as the last row that is complete; what stands between rows goes to Python. Returns where the rest
   begins, NULL for an error. */
const char *scan_rows(Scanner *s, const char *start, const char *end)
{
    const char *p = start, *last = last_row_end(start, end);
    s->region = start;
    s->has_before = 0;
    if (end - (last ? last : start) > MAX_PENDING)
        return decline(s, start, "a long row");
    if (!last)
        return start;
    if (!reserve(&s->decoded, &s->decoded_capacity, (size_t)(last - start), 1))
        return NULL;
    while (p < last) {
        const char *markup = p;
        p = skip_blanks(p);
        if (!AT(p, "<row>") || !s->has_table) {
            PyObject *answer;
            while (p < last && !AT(p, "<row"))
                p++;
            if (p == last)
                return decline(s, markup, "an end of a row that never began");
            s->has_table = 0;
            answer = PyObject_CallMethod(s->host, "between", "N", PyBytes_FromStringAndSize(markup, p - markup));
            if (!answer)
                return NULL;
            Py_DECREF(answer);
            if (!s->has_table)
                return decline(s, p, "a row outside of a table");
            s->table_start = s->consumed + (uint64_t)(p - start);
        }
        if (!(p = row(s, p)))
            return NULL;
    }
    s->consumed += (uint64_t)(last - start);
    return last;
}
