/* Characters: which ones XML allows, and what references such as &amp; stand for. */

#include "scan.h"

static uint8_t stops[256]; /* bytes at which an attribute value or a text ends or has to be looked at */

void prepare_stops(void)
{
    for (int byte = 0; byte < 256; byte++)
        stops[byte] = byte < 0x20 || byte >= 0x80 ? ENDS_VALUE | ENDS_TEXT : 0;
    stops['\t'] = stops['\n'] = ENDS_VALUE;
    stops['<'] = stops['&'] = ENDS_VALUE | ENDS_TEXT;
    stops['"'] = ENDS_VALUE;
    stops['>'] = ENDS_TEXT;
}

/* Whether none of eight bytes is one of `stops`: no control character, "<", "&", quote, ">" or beginning of UTF-8. */
static int are_plain(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t word, quote, less, and, more;
    memcpy(&word, p, 8);
    quote = word ^ ones * '"';
    less = word ^ ones * '<';
    and = word ^ ones * '&';
    more = word ^ ones * '>';
    return !((word | ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((less - ones) & ~less) |
              ((and - ones) & ~and) | ((more - ones) & ~more)) &
             high);
}

int at(const Scanner *s, const char *p, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(s->end - p) >= length && memcmp(p, text, length) == 0;
}

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

static const struct {
    const char *name;
    char meaning;
} references[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};

/* Length of the reference at p and its character; 0 for one that is not predefined in XML. */
static size_t reference_at(const Scanner *s, const char *p, char *meaning)
{
    for (size_t k = 0; k < sizeof references / sizeof *references; k++)
        if (at(s, p, references[k].name)) {
            *meaning = references[k].meaning;
            return strlen(references[k].name);
        }
    return 0;
}

/* The run of characters from p on, up to the quote that ends a value or the "<" that ends a text. */
const char *characters(Scanner *s, const char *p, int stop, Slice *slice)
{
    char meaning;
    slice->start = p;
    slice->escaped = 0;
    for (;;) {
        size_t length;
        while (s->end - p >= 8 && are_plain(p))
            p += 8;
        while (!(stops[(unsigned char)*p] & stop))
            p++;
        if (*p == (stop == ENDS_VALUE ? '"' : '<'))
            break;
        if (*p == '&') {
            length = reference_at(s, p, &meaning);
            slice->escaped = 1;
        } else if (*p == '>') {
            length = p - slice->start >= 2 && p[-1] == ']' && p[-2] == ']' ? 0 : 1;
        } else {
            length = utf8_length((const unsigned char *)p);
        }
        if (!length)
            return decline(s, p, *p == '&' ? "an entity that is not predefined" : "an unexpected character");
        p += length;
    }
    slice->length = (size_t)(p - slice->start);
    return slice->length > MAX_TEXT ? decline(s, p, "a long text") : p;
}

/* The characters themselves, with references replaced. The room for one row suffices, since they only get shorter. */
Slice plain(Scanner *s, Slice slice)
{
    if (!slice.start || !slice.escaped)
        return slice;
    char *to = s->decoded + s->decoded_length;
    const char *from = slice.start, *end = from + slice.length;
    Slice result = {to, 0, 0};
    while (from < end)
        if (*from == '&')
            from += reference_at(s, from, to++);
        else
            *to++ = *from++;
    result.length = (size_t)(to - result.start);
    s->decoded_length += result.length;
    return result;
}
