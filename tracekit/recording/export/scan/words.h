/* Bytes, eight or sixteen at a time: the first one is the lowest of a word. A mark is the highest bit of a byte. */

#ifndef TRACEKIT_WORDS_H
#define TRACEKIT_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_ENDIAN_WORD(word) __builtin_bswap64(word)
#else
#define LITTLE_ENDIAN_WORD(word) (word)
#endif

#define AT(p, literal) (memcmp((p), literal, sizeof(literal) - 1) == 0)

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define MARKS EACH(0x80)

static inline uint64_t word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return LITTLE_ENDIAN_WORD(word);
}

/* How many bytes precede the first mark; there is one. */
static inline unsigned unmarked(uint64_t marks)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(marks) >> 3;
#else
    return (unsigned)(((((marks & (0 - marks)) - 1) & EACH(1)) * EACH(1)) >> 56) - 1;
#endif
}

/* Whether the `length` bytes at p, at least one, are those of a fixed text, which is filled up to whole words. */
static inline int is_at(const char *p, const char *fixed, size_t length)
{
    for (; length > 8; p += 8, fixed += 8, length -= 8)
        if (word_at(p) != word_at(fixed))
            return 0;
    return (word_at(p) ^ word_at(fixed)) << (64 - 8 * length) == 0;
}

#ifdef __GNUC__
/* Sixteen bytes, as the vector unit of every processor has them, and two words of bytes that are 0 or have all bits. */
typedef signed char Vector __attribute__((vector_size(16)));
#define BLOCK 16

static inline Vector vector_at(const char *p)
{
    Vector vector;
    memcpy(&vector, p, sizeof vector);
    return vector;
}

/* How many bytes precede the first one that is not 0; BLOCK where all are 0. */
static inline unsigned zeros(Vector vector)
{
    uint64_t words[2];
    memcpy(words, &vector, sizeof words);
    if (words[0])
        return unmarked(LITTLE_ENDIAN_WORD(words[0]));
    return words[1] ? 8 + unmarked(LITTLE_ENDIAN_WORD(words[1])) : BLOCK;
}

static inline unsigned plain_bytes(const char *p)
{
    Vector vector = vector_at(p);
    return zeros((vector < ' ') | ((vector | ('"' ^ '&')) == ('"' | '&')) | ((vector | ('<' ^ '>')) == '>'));
}

static inline unsigned same_in_block(const char *p, const char *q)
{
    return zeros(vector_at(p) != vector_at(q));
}
#else
#define BLOCK 8

static inline unsigned plain_bytes(const char *p)
{
    uint64_t word = word_at(p), angle = (word | EACH('<' ^ '>')) ^ EACH('>');
    uint64_t quote_or_and = (word | EACH('"' ^ '&')) ^ EACH('"' | '&');
    uint64_t marks = (word | ((word - EACH(0x20)) & ~word) | ((quote_or_and - EACH(1)) & ~quote_or_and) |
                      ((angle - EACH(1)) & ~angle)) &
                     MARKS;
    return marks ? unmarked(marks) : BLOCK;
}

static inline unsigned same_in_block(const char *p, const char *q)
{
    uint64_t other = word_at(p) ^ word_at(q);
    return other ? unmarked((((other & ~MARKS) + ~MARKS) | other) & MARKS) : BLOCK;
}
#endif

/* The first byte from p on that no run of characters passes unseen: controls, ", &, <, > and what is beyond ASCII. */
static inline const char *skip_plain(const char *p)
{
    unsigned plain;
    while ((plain = plain_bytes(p)) == BLOCK)
        p += BLOCK;
    return p + plain;
}

/* How many of the first `length` bytes at p and q are the same. Fewer than BLOCK bytes are read behind those. */
static inline size_t same_bytes(const char *p, const char *q, size_t length)
{
    size_t same = 0;
    while (same < length) {
        unsigned here = same_in_block(p + same, q + same);
        same += here;
        if (here < BLOCK)
            break;
    }
    return same < length ? same : length;
}

static inline const char *skip_blanks(const char *p)
{
    while (*p <= ' ' && (*p == '\n' || *p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* The number that eight bytes from 0 to 9 stand for. */
static inline uint64_t eight_digits(uint64_t word)
{
    word = word * (1 + (10 << 8)) >> 8 & UINT64_C(0x00FF00FF00FF00FF);
    word = word * (1 + (100 << 16)) >> 16 & UINT64_C(0x0000FFFF0000FFFF);
    return word * (1 + (UINT64_C(10000) << 32)) >> 32;
}

/* Digits as a number, at most twenty and as long as it has 64 bits; ends behind the last one. */
static inline const char *digits(const char *p, uint64_t *number)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const char *first = p;
    uint64_t value = 0;
    unsigned digit;
    for (int block = 0; block < 2; block++) {
        uint64_t word = word_at(p) ^ EACH('0'), marks = ((word + EACH(0x80 - 10)) | word) & MARKS;
        if (marks) {
            unsigned count = unmarked(marks);
            *number = count ? value * powers[count] + eight_digits(word << (64 - 8 * count)) : value;
            return p + count;
        }
        value = value * 100000000 + eight_digits(word);
        p += 8;
    }
    while ((digit = (unsigned char)*p - (unsigned)'0') <= 9 && p - first < 19) {
        value = 10 * value + digit;
        p++;
    }
    if (digit <= 9 && value <= (UINT64_MAX - digit) / 10) {
        value = 10 * value + digit; /* the twentieth */
        p++;
    }
    *number = value;
    return p;
}

#endif
