// Reads an export with expat, as a native importer does: each cell typed, each reference resolved, texts interned.
//
//     g++ -O3 -std=c++17 expat_reader.cpp -lexpat -o expat_reader && ./expat_reader FILE
//
// Prints rows, the sum of the durations and the number of distinct texts. Every definition at any depth gets its id.

#include <expat.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

struct Value {
    bool is_number;
    int64_t payload;
};

struct Open {
    std::string tag, text, shown;
    size_t id;
};

struct Reader {
    std::unordered_map<std::string, int32_t> texts;
    std::unordered_map<std::string, bool> numeric;
    std::vector<Value> ids{1};
    std::vector<std::vector<int64_t>> columns;
    std::vector<Open> open;
    size_t rows = 0, column = 0, depth = 0;
    int64_t durations = 0;
    bool in_row = false;

    bool is_number(const std::string &tag)
    {
        static const char *names[] = {"start-time", "event-time", "duration", "metal-nesting-level", "uint64", "pid",
            "tid", "layout-id", "connection-uuid64", "render-buffer-depth", "size-in-bytes", "metal-encoder-id",
            "metal-command-buffer-id", "os-signpost-identifier"};
        auto found = numeric.find(tag);
        if (found != numeric.end())
            return found->second;
        bool answer = false;
        for (const char *name : names)
            answer |= tag == name;
        return numeric[tag] = answer;
    }

    void cell(const Value &value)
    {
        if (columns.size() <= column)
            columns.emplace_back();
        columns[column].push_back(value.payload);
        if (column == 1 && value.is_number)
            durations += value.payload;
        column++;
    }
};

static void begin(void *data, const char *tag, const char **attributes)
{
    Reader &reader = *static_cast<Reader *>(data);
    if (!reader.in_row) {
        reader.in_row = strcmp(tag, "row") == 0;
        reader.column = 0;
        return;
    }
    Open open{tag, "", "", 0};
    for (; *attributes; attributes += 2) {
        if (strcmp(attributes[0], "id") == 0) {
            open.id = strtoull(attributes[1], nullptr, 10);
        } else if (strcmp(attributes[0], "fmt") == 0) {
            open.shown = attributes[1];
        } else if (strcmp(attributes[0], "ref") == 0 && reader.open.empty()) {
            reader.cell(reader.ids.at(strtoull(attributes[1], nullptr, 10)));
            open.id = SIZE_MAX;
        } else if (strcmp(attributes[0], "ref") == 0) {
            open.id = SIZE_MAX;
        }
    }
    reader.open.push_back(std::move(open));
}

static void end(void *data, const char *tag)
{
    Reader &reader = *static_cast<Reader *>(data);
    if (reader.open.empty()) {
        if (reader.in_row && strcmp(tag, "row") == 0) {
            reader.rows++;
            reader.in_row = false;
        }
        return;
    }
    Open open = std::move(reader.open.back());
    reader.open.pop_back();
    if (open.id == SIZE_MAX)
        return;
    Value value{reader.is_number(open.tag), 0};
    if (value.is_number) {
        value.payload = strtoll(open.text.c_str(), nullptr, 10);
    } else if (open.tag != "sentinel") {
        const std::string &text = open.shown.empty() ? open.text : open.shown;
        value.payload = reader.texts.emplace(text, static_cast<int32_t>(reader.texts.size())).first->second;
    }
    if (open.id) {
        if (reader.ids.size() <= open.id)
            reader.ids.resize(open.id + 1);
        reader.ids[open.id] = value;
    }
    if (reader.open.empty())
        reader.cell(value);
}

static void text(void *data, const char *characters, int length)
{
    Reader &reader = *static_cast<Reader *>(data);
    if (!reader.open.empty())
        reader.open.back().text.append(characters, static_cast<size_t>(length));
}

int main(int, char **arguments)
{
    Reader reader;
    XML_Parser parser = XML_ParserCreate(nullptr);
    FILE *file = fopen(arguments[1], "rb");
    XML_SetUserData(parser, &reader);
    XML_SetElementHandler(parser, begin, end);
    XML_SetCharacterDataHandler(parser, text);
    static char chunk[1 << 18];
    for (size_t length; (length = fread(chunk, 1, sizeof chunk, file)) > 0;)
        if (XML_Parse(parser, chunk, static_cast<int>(length), feof(file)) == XML_STATUS_ERROR)
            return 1;
    printf("%zu %lld %zu\n", reader.rows, static_cast<long long>(reader.durations), reader.texts.size());
    return 0;
}
