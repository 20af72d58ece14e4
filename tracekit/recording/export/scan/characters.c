/* Characters: which ones XML allows, and what references such as &amp; stand for. */

#include "scan.h"

/* Length of the UTF-8 sequence at p; 0 where XML allows none. Continuation bytes are looked at one after the other, so
   that nothing is read beyond the first byte that does not fit. */
static size_t utf8_length(const unsigned char *p)
{
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    uint32_t code = p[0] & (0xffu >> (length + 1));
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    for (size_t k = 1; k < length; k++) {
        if ((p[k] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[k] & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)))
        return 0;
    return (code >= 0xd800 && code <= 0xdfff) || code == 0xfffe || code == 0xffff ? 0 : length;
}

/* Length of the reference at p and its character; 0 for one that is not predefined in XML. */
static size_t reference_at(const char *p, char *meaning)
{
    static const struct {
        const char *name;
        char meaning;
    } references[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        size_t length = strlen(references[k].name);
        if (memcmp(p, references[k].name, length) == 0) {
            *meaning = references[k].meaning;
            return length;
        }
    }
    return 0;
}

/* The run of characters from p on, up to its `ending`: the quote behind an attribute value, or the "<" behind a text. */
const char *characters(Scanner *s, const char *p, char ending, Slice *slice)
{
    const char *start = p;
    int is_value = ending == '"', escaped = 0;
    for (;;) {
        char meaning;
        size_t length;
        p = skip_plain(p);
        if (*p == ending)
            break;
        if (*p == '>') {
            length = is_value || p - start < 2 || p[-1] != ']' || p[-2] != ']';
        } else if (*p == '&') {
            length = reference_at(p, &meaning);
            escaped = 1;
        } else if (*p == '"' || *p == '\t' || *p == '\n') {
            length = !is_value;
        } else {
            length = utf8_length((const unsigned char *)p);
        }
        if (!length)
            return decline(s, p, *p == '&' ? "an entity that is not predefined" : "an unexpected character");
        p += length;
    }
    slice->start = start;
    slice->length = (size_t)(p - start);
    slice->escaped = escaped;
    return slice->length > MAX_TEXT ? decline(s, p, "a long text") : p;
}

/* The characters themselves, with references replaced. The room for one row suffices, since they only get shorter. */
void resolve(Scanner *s, Slice *slice)
{
    char *to = s->decoded + s->decoded_length;
    const char *from = slice->start, *end = from + slice->length;
    slice->start = to;
    while (from < end)
        if (*from == '&')
            from += reference_at(from, to++);
        else
            *to++ = *from++;
    slice->length = (size_t)(to - slice->start);
    slice->escaped = 0;
    s->decoded_length += slice->length;
}
