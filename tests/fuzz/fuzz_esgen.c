// SPDX-License-Identifier: MIT
// Any bytes as a C file. shoal-esgen refuses it with a sentence, or writes code. The code must be
// complete C text, and shoal-esgen must read its functions again without an error.
#include "fuzz.h"

#include "esgen.h"

static void count_report(void* context, const char* file, uint32_t line, const char* message) {
    FUZZ_CHECK(file && line > 0 && message && *message);
    ++*(uint32_t*)context;
}

// Check that brackets match, and that strings and comments end.
static void check_written(const base_bytes* out) {
    uint32_t reports = 0;
    base_reporter reporter = {count_report, &reports};
    esgen_words words;
    FUZZ_CHECK(esgen_words_read(&words, "x.es.h", (const char*)out->data, out->size, &reporter));
    uint32_t parentheses = 0, braces = 0;
    for (uint32_t i = 0; i < words.count; i++) {
        parentheses += esgen_word_is(&words.items[i], "(");
        braces += esgen_word_is(&words.items[i], "{");
        if (esgen_word_is(&words.items[i], ")")) FUZZ_CHECK(parentheses-- > 0);
        if (esgen_word_is(&words.items[i], "}")) FUZZ_CHECK(braces-- > 0);
    }
    FUZZ_CHECK(parentheses == 0 && braces == 0 && reports == 0);
    esgen_words_deinit(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    uint32_t reports = 0;
    base_reporter reporter = {count_report, &reports};
    esgen_unit* unit = malloc(sizeof *unit);
    if (!unit) return 0;
    esgen_unit_init(unit, "x.c", &reporter);
    esgen_words words;
    if (esgen_words_read(&words, "x.c", (const char*)data, size, &reporter)) {
        esgen_types_read(unit, &words, ESGEN_HERE);
        esgen_parse(unit, &words);
        FUZZ_CHECK(unit->fault_count == reports);
        if (reports == 0) {
            base_bytes out;
            base_bytes_init(&out, NULL);
            esgen_emit(unit, "x", &out);
            FUZZ_CHECK(!out.failed);
            check_written(&out);
            base_bytes_deinit(&out);
        }
        esgen_words_deinit(&words);
    } else {
        FUZZ_CHECK(reports == 1);
    }
    esgen_unit_deinit(unit);
    free(unit);
    return 0;
}
