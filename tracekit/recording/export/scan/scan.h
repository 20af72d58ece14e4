/* Scans the rows of an export in one pass: what is done for each cell, and nothing else.

   A row is elements in the order of the columns. An element defines a value under the next id, refers to a value by
   its id, or is <sentinel/>:

       <duration id="2" fmt="259.17 µs">259167</duration>   <duration ref="2"/>   <sentinel/>

   Whole numbers go into 64-bit columns. Texts, and elements that are put together from parts, become indexes into the
   distinct values of the file; Python gives those their meaning, once for each. Everything between rows is handed to
   Python as it stands.

   Only what `xctrace` writes is accepted, and what it becomes where a program of XML writes it again: attributes in
   another order, or gone, and blanks. At anything else the scanner raises `Declined`, and the file is read from
   its beginning by the reader in nodes.py, whose judgment and whose messages count. Hence no test here is more lenient
   than there, and none needs to tell what is wrong from what is merely unusual.

   No loop goes beyond the end: a region that is scanned ends with "</row>", and every loop over names, digits, texts
   and attributes stops at "<" at the latest. Up to sixteen bytes are looked at together, and fixed texts are compared
   without a test for the end, since the buffer goes on for PADDING bytes; none of them can match across the end,
   because none has a ">" before its last byte. */

#ifndef TRACEKIT_SCAN_H
#define TRACEKIT_SCAN_H

/* No format with "#" here: compiled with the headers of Python 3.13, such a format fails in Python 3.11 and 3.12. */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "words.h"

#ifdef SCAN_FAILING_MEMORY /* only in tests: the allocation of that number fails */
extern long fail_at;
#define FAILS() (fail_at >= 0 && fail_at-- == 0)
#else
#define FAILS() 0
#endif

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

#define MAX_NAME 64          /* bytes of an element name */
#define PADDING 128          /* bytes of the buffer behind its content; more than any fixed text has */
#define MAX_TAGS 4096        /* as limits.MAX_TAGS */
#define TAG_SLOTS (4 * MAX_TAGS)
#define MAX_COLUMNS 512      /* as limits.MAX_COLUMNS */
#define MAX_DEPTH 16         /* limits.MAX_DEPTH is larger */
#define MAX_PARTS 50000      /* as limits.MAX_ROW_ELEMENTS */
#define MAX_TEXT (1 << 20)   /* bytes; limits.MAX_TEXT_CHARS counts characters */
#define MAX_PENDING (2 << 20) /* bytes without the end of a row; limits.MAX_ROW_BYTES is larger */
#define MAX_ROWS 200000000   /* as limits.MAX_ROWS */
#define MAX_SIGNATURES 60000 /* as limits.MAX_SIGNATURES */
#define MAX_SLOTS (4 << 20)  /* for which a table grows in advance: 32 MB */
#define MAX_TIME ((UINT64_C(1) << 53) - 1) /* as MAX_TIME_NS */
#ifndef RECENT
#define RECENT 4096          /* texts that are found again at once */
#endif
#define MAX_PROBES 1000      /* steps of one look-up in a table: a file made of collisions is declined */

/* How the content of an element is taken; Python chooses for each tag. */
enum mode { INTEGER, TIME, TEXT, LABEL, COMPOUND, MODES };

/* The text of an element and its attributes. */
enum slice { CONTENT, FMT, NAME, ADDR, UUID, ARCH, LOAD_ADDR, PATH, LINE, SLICES };

typedef struct {
    char start[MAX_NAME + 8], end[MAX_NAME + 8]; /* "<name " and "</name>", filled up with zeros */
    size_t length; /* of the name */
    int mode;
    uint16_t inside, behind; /* tags of the first part and of the next one when this was last read, 0 for none */
} Tag;

typedef struct {
    const char *start; /* NULL where there is none */
    size_t length;
    int escaped; /* holds references such as &amp; */
} Slice;

typedef struct {
    int64_t tag, payload;
} Part;

typedef struct {
    uint32_t hash, next; /* `next` is an index + 1; 0 marks a free slot */
} Slot;

typedef struct {
    unsigned tag; /* 0: cells bring their own */
    size_t width; /* bytes of a payload */
    PyObject *payloads; /* bytearray */
    char *cells; /* its content; NULL as long as all payloads are the same */
    int64_t same; /* that payload */
} Column;

/* A cell of the row before. */
typedef struct {
    const char *start;
    int repeats; /* it defines nothing: the same bytes mean the same in the next row */
} Before;

typedef struct {
    PyObject_HEAD
    /* Tags by number, from 1, and by name. */
    Tag *tags;
    size_t tag_count, tag_capacity;
    uint16_t tag_slots[TAG_SLOTS];
    /* What each id stands for; ids count up from 1. Tag 0: not known yet. */
    uint16_t *id_tags;
    int64_t *id_payloads;
    size_t id_count, id_tag_capacity, id_payload_capacity;
    int first_id_of_table;
    /* Values: UTF-8, or the bytes of a compound, of which each is kept once. */
    char *bytes;
    size_t *ends; /* of each value in `bytes` */
    uint32_t *uses; /* how often each compound was defined; 0 for a text */
    uint32_t *hashes;
    size_t value_count, end_capacity, use_capacity, hash_capacity, byte_count, byte_capacity;
    Slot recent[RECENT]; /* texts; others that are the same are found in the end, which takes less waiting for memory */
    Slot *slots; /* compounds */
    size_t slot_count, compound_count;
    /* The table that is being read. */
    Column columns[MAX_COLUMNS];
    size_t column_count, rows, row_capacity;
    int has_table, keeps;
    Before before[MAX_COLUMNS + 1]; /* the last one is the end of the row */
    int has_before, has_defined, has_restarted; /* values in this cell; ids in this row */
    PyObject *signature_numbers, *signatures; /* bytearray of uint16, list of bytes of uint16 */
    uint16_t signature[MAX_COLUMNS];
    Slot *signature_slots;
    size_t signature_slot_count;
    unsigned last_number;
    /* Room for one row. */
    Part *parts;
    size_t part_count, part_capacity, part_total;
    char *decoded;
    size_t decoded_length, decoded_capacity;
    char *key;
    size_t key_capacity;
    /* The region that is being scanned. */
    const char *region;
    uint64_t consumed; /* bytes of the file before the region */
    uint64_t size; /* bytes of the file, as far as that is known */
    uint64_t table_start; /* bytes of the file before the rows of the table */
    PyObject *host; /* borrowed for the duration of a call */
} Scanner;

extern PyObject *Declined;

/* memory.c */
const char *decline(Scanner *s, const char *where, const char *reason);
void *in_large_pages(void *array, size_t size);
size_t expected(const Scanner *s, const char *where, size_t count, uint64_t start);
int reserve(void *array, size_t *capacity, size_t needed, size_t size);
PyObject *made(PyObject *object);
int resized(PyObject *bytearray, size_t size);

/* characters.c */
const char *characters(Scanner *s, const char *p, char ending, Slice *slice);
void resolve(Scanner *s, Slice *slice);

/* values.c */
uint32_t hash_of(const char *p, size_t length);
int grow_slots(Slot **slots, size_t *count, size_t all);
const char *value_at(const Scanner *s, size_t index, size_t *length);
int64_t text_index(Scanner *s, const char *where, const char *bytes, size_t length);
int find_same(Scanner *s, PyObject **names);
int64_t compound(Scanner *s, const char *where, unsigned tag, size_t first, Slice *slices);
unsigned tag_of(Scanner *s, const char *name, size_t length);
const char *tag_name(Scanner *s, const char *p, unsigned *tag);

/* columns.c */
int reserve_row(Scanner *s, const char *where);
int differs(Scanner *s, Column *column, int64_t payload);
long signature_number(Scanner *s, const char *where);

/* rows.c */
const char *row(Scanner *s, const char *p);

/* regions.c */
const char *scan_rows(Scanner *s, const char *start, const char *end);

#endif
