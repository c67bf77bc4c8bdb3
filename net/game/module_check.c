// SPDX-License-Identifier: MIT
// Checking a module file before any of its code runs.
//
// Four promises of a module can be read from its file: it has no writable globals, it imports no
// time, no chance and nothing of the C library's mathematics, it was not linked with -ffast-math,
// and it exports the one symbol. The file is untrusted: each offset is checked against the file's
// size before it is followed, each string against the end of its table. Only without a fault the
// module is opened and its table checked.
//
// What lies where in a shared object: constants with pointers go to .data.rel.ro, which the loader
// makes read-only after relocation; writable data is in .data and .bss. The toolchain itself puts
// two words there (__dso_handle, completed.0). In a stripped file small globals can hide beside
// them, and so can start-up code of -ffast-math; no other part of this check depends on the symbol
// table.
//
// A library that is a part of the module (shoal_game(... LIBRARY name)) promises nothing. A dynamic
// symbol names it. Then a fault is the game's own when the file shows it: a global of a source that
// a symbol names, or an import with a place in the table of addresses, because the game's sources
// are built with -fno-plt and a library's are not. All else is in one note for each library. The
// tables of a sanitizer are no faults.
//
// Left to others: whether the promises hold at run time. Verification of the log finds that.

#include "game/module.h"

#include "base/assert.h"
#include "base/text.h"

#include <elf.h>
#include <string.h>

// __dso_handle and completed.0, each with its alignment.
#define WRITABLE_BYTES_MAX 32u
#define SECTIONS_MAX 4096u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define OF_ADDRESS R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define OF_ADDRESS R_AARCH64_GLOB_DAT
#else
#error "name the ELF machine of this CPU"
#endif

typedef struct elf {
    const uint8_t* data;
    size_t size;
    Elf64_Ehdr header;
    const char* file;
    const base_reporter* reporter;
    const char* source; // of the symbols that follow in a table; "": not known
    uint32_t faults;
    bool has_entry;
    Elf64_Shdr dynamic; // table of the dynamic symbols
    uint64_t symbol;    // the number of the one that is checked
    bool has_library, is_sanitized;
    char others[512]; // what may be a library's
} elf;

static bool begins_with(const char* text, const char* start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool copy_at(const elf* elf_, uint64_t offset, void* target, size_t bytes) {
    if (offset > elf_->size || bytes > elf_->size - offset) return false;
    memcpy(target, elf_->data + offset, bytes);
    return true;
}

static bool read_section(const elf* elf_, uint32_t index, Elf64_Shdr* section) {
    if (index >= elf_->header.e_shnum) return false;
    if (elf_->header.e_shoff > elf_->size) return false;
    return copy_at(elf_, elf_->header.e_shoff + (uint64_t)index * sizeof *section, section,
                   sizeof *section);
}

// A string of a string table; NULL when it does not end inside the table.
static const char* read_string(const elf* elf_, uint32_t table, uint64_t offset) {
    Elf64_Shdr section;
    if (!read_section(elf_, table, &section) || section.sh_type != SHT_STRTAB) return NULL;
    if (section.sh_offset > elf_->size || section.sh_size > elf_->size - section.sh_offset)
        return NULL;
    if (offset >= section.sh_size) return NULL;
    const char* text = (const char*)elf_->data + section.sh_offset + offset;
    return memchr(text, '\0', (size_t)(section.sh_size - offset)) ? text : NULL;
}

// The next dynamic symbol that begins with `start`. @return the rest of its name; NULL: none.
static const char* next_marked(const elf* elf_, const char* start, uint64_t* at) {
    Elf64_Sym symbol;
    while (*at < elf_->dynamic.sh_size / sizeof symbol &&
           copy_at(elf_, elf_->dynamic.sh_offset + *at * sizeof symbol, &symbol, sizeof symbol)) {
        const char* name = read_string(elf_, elf_->dynamic.sh_link, symbol.st_name);
        ++*at;
        if (name && begins_with(name, start)) return name + strlen(start);
    }
    return NULL;
}

static bool has_marked(const elf* elf_, const char* start) {
    uint64_t at = 0;
    return next_marked(elf_, start, &at) != NULL;
}

// Does a symbol name this source? In its name some characters are '_'.
static bool is_own_source(const elf* elf_) {
    uint64_t at = 0;
    const char* name;
    while ((name = next_marked(elf_, "shoal_source_", &at)) != NULL) {
        uint32_t i = 0;
        while (elf_->source[i] && (name[i] == elf_->source[i] || name[i] == '_'))
            i++;
        if (i > 0 && !name[i] && !elf_->source[i]) return true;
    }
    return false;
}

// Has the dynamic symbol that is checked a place in the table of addresses?
static bool has_address(const elf* elf_) {
    for (uint32_t i = 0; i < elf_->header.e_shnum; i++) {
        Elf64_Shdr section;
        Elf64_Rela place;
        if (!read_section(elf_, i, &section) || section.sh_type != SHT_RELA) continue;
        for (uint64_t k = 0;
             k < section.sh_size / sizeof place &&
             copy_at(elf_, section.sh_offset + k * sizeof place, &place, sizeof place);
             k++)
            if (ELF64_R_SYM(place.r_info) == elf_->symbol &&
                ELF64_R_TYPE(place.r_info) == OF_ADDRESS)
                return true;
    }
    return false;
}

// What may be a library's, in a module that has one, is no fault. What has no room is left out.
static bool is_noted(elf* elf_, const char* what) {
    const size_t size = strlen(elf_->others);
    if (!elf_->has_library) return false;
    (void)base_text_format(elf_->others + size, sizeof elf_->others - size, "%s%.96s",
                           size > 0 ? "; " : "", what);
    return true;
}

static void note_libraries(elf* elf_) {
    uint64_t at = 0;
    const char* name;
    while ((name = next_marked(elf_, "shoal_library_", &at)) != NULL)
        base_report(elf_->reporter, elf_->file, 0,
                    "note: contains library %.64s, which the play checks%s%s", name,
                    elf_->others[0] ? ": " : "", elf_->others);
    if (elf_->others[0])
        base_report(elf_->reporter, elf_->file, 0,
                    "note: shoal-client --local and ./play call libraries from two threads at "
                    "once: what worlds share there needs a lock");
}

static void fault(elf* elf_, const char* what, const char* name) {
    elf_->faults++;
    base_report(elf_->reporter, elf_->file, 0, "%s%s%.128s", what, name[0] ? " " : "", name);
}

static bool read_header(elf* elf_) {
    Elf64_Ehdr* header = &elf_->header;
    if (!copy_at(elf_, 0, header, sizeof *header) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
        fault(elf_, "is not a shared object", "");
        return false;
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_type != ET_DYN || header->e_machine != MACHINE) {
        fault(elf_, "is not a shared object for this machine", "");
        return false;
    }
    Elf64_Shdr last;
    if (header->e_shnum == 0 || header->e_shnum > SECTIONS_MAX ||
        header->e_shentsize != sizeof(Elf64_Shdr) ||
        !read_section(elf_, header->e_shnum - 1u, &last)) {
        fault(elf_, "has no readable section table", "");
        return false;
    }
    return true;
}

// Sections that the loader makes read-only, or that belong to it. mold and lld add .relro_padding
// to fill the last page of those.
static bool is_of_loader(const char* name) {
    static const char* const names[] = {".init_array",     ".fini_array",  ".dynamic",      ".got",
                                        ".tm_clone_table", ".data.rel.ro", ".relro_padding"};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++)
        if (begins_with(name, names[i])) return true;
    return false;
}

// Is it a section whose content a module can change while it runs?
static bool is_writable(const elf* elf_, uint32_t index, Elf64_Shdr* section) {
    if (!read_section(elf_, index, section)) return false;
    if ((section->sh_flags & (SHF_WRITE | SHF_ALLOC)) != (SHF_WRITE | SHF_ALLOC)) return false;
    const char* name = read_string(elf_, elf_->header.e_shstrndx, section->sh_name);
    return !name || !is_of_loader(name);
}

static void check_writable_bytes(elf* elf_) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < elf_->header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!is_writable(elf_, i, &section)) continue;
        if (section.sh_flags & SHF_TLS && !is_noted(elf_, "has variables per thread"))
            fault(elf_, "has variables per thread", "");
        bytes = section.sh_size > UINT64_MAX - bytes ? UINT64_MAX : bytes + section.sh_size;
    }
    if (bytes <= WRITABLE_BYTES_MAX || elf_->is_sanitized) return;
    char text[96];
    (void)base_text_format(text, sizeof text,
                           "%llu bytes of writable globals, which no log and no client has",
                           (unsigned long long)bytes);
    if (!is_noted(elf_, text)) fault(elf_, text, "");
}

static void check_defined(elf* elf_, const Elf64_Sym* symbol, const char* name) {
    uint32_t type = ELF64_ST_TYPE(symbol->st_info);
    if (type != STT_OBJECT && type != STT_COMMON && type != STT_TLS) return;
    if (symbol->st_size == 0) return; // a mark of the linker, for example __TMC_END__
    Elf64_Shdr section;
    if (symbol->st_shndx >= SHN_LORESERVE || !is_writable(elf_, symbol->st_shndx, &section)) return;
    const bool is_of_sanitizer = elf_->is_sanitized && (name[0] == '_' || name[0] == '.');
    const bool is_of_toolchain =
        strcmp(name, "__dso_handle") == 0 || begins_with(name, "completed.");
    if (is_of_toolchain || is_of_sanitizer || (elf_->has_library && !is_own_source(elf_))) return;
    elf_->faults++;
    base_report(elf_->reporter, elf_->file, 0,
                "writable global %.128s%s%.128s: keep it in a component or in the context", name,
                elf_->source[0] ? " of " : "", elf_->source);
}

// ---- imports that a module must not have ----

// sqrt and sqrtf are exact on every machine, a long double is not.
static const char* const mathematics[] = {
    "acos",   "acosh", "asin",      "asinh",     "atan",    "atan2",  "atanh",   "cbrt",
    "ceil",   "cos",   "cosh",      "erf",       "erfc",    "exp",    "exp10",   "exp2",
    "expm1",  "fabs",  "fdim",      "floor",     "fma",     "fmax",   "fmin",    "fmod",
    "frexp",  "hypot", "ilogb",     "ldexp",     "lgamma",  "llrint", "llround", "log",
    "log10",  "log1p", "log2",      "logb",      "lrint",   "lround", "modf",    "nearbyint",
    "pow",    "nan",   "nextafter", "remainder", "remquo",  "rint",   "round",   "roundeven",
    "sin",    "sinh",  "sincos",    "scalbn",    "scalbln", "sqrtl",  "tan",     "tanh",
    "tgamma", "trunc", "j0",        "j1",        "jn",      "y0",     "y1",      "yn",
};

static const struct {
    const char* names; // one after the other
    const char* instead;
} refused[] = {
    {"rand\0srand\0rand_r\0random\0srandom\0random_r\0initstate\0setstate\0drand48\0"
     "erand48\0lrand48\0nrand48\0mrand48\0jrand48\0seed48\0lcong48\0srand48\0arc4random\0"
     "arc4random_uniform\0arc4random_buf\0getrandom\0getentropy\0",
     "chance is ecs_world_rng or ecs_stage_rng"},
    {"time\0clock\0clock_gettime\0clock_getres\0gettimeofday\0timespec_get\0ftime\0times\0"
     "localtime\0localtime_r\0gmtime\0gmtime_r\0mktime\0strftime\0nanosleep\0"
     "clock_nanosleep\0sleep\0usleep\0",
     "time is stage->tick and stage->dt"},
    {"getenv\0secure_getenv\0setenv\0putenv\0getpid\0gethostname\0uname\0sysconf\0fopen\0"
     "fopen64\0freopen\0open\0open64\0openat\0openat64\0creat\0socket\0connect\0popen\0"
     "system\0fork\0execve\0execl\0execv\0execvp\0dlopen\0pthread_create\0thrd_create\0",
     "a game has its settings, inputs and components alone"},
};

static bool is_mathematics(const char* name) {
    for (uint32_t i = 0; i < BASE_COUNT(mathematics); i++) {
        size_t length = strlen(mathematics[i]);
        if (strncmp(name, mathematics[i], length) != 0) continue;
        const char* rest = name + length;
        if (rest[0] == '\0' || strcmp(rest, "f") == 0 || strcmp(rest, "l") == 0) return true;
    }
    return false;
}

static void refuse_import(elf* elf_, const char* what, const char* name, const char* instead) {
    if (!has_address(elf_) && is_noted(elf_, name)) return;
    elf_->faults++;
    base_report(elf_->reporter, elf_->file, 0, "imports %s%.128s: %s", what, name, instead);
}

static void check_import(elf* elf_, const char* name) {
    // -ffast-math and old headers give names like __pow_finite, __sin_fma.
    if (is_mathematics(name) || (begins_with(name, "__") && strstr(name, "_finite"))) {
        refuse_import(elf_, "libm's ", name,
                      "its bits differ between machines; base/math.h has sine and its kin");
        return;
    }
    for (uint32_t i = 0; i < BASE_COUNT(refused); i++)
        for (const char* at = refused[i].names; *at; at += strlen(at) + 1)
            if (strcmp(name, at) == 0) refuse_import(elf_, "", name, refused[i].instead);
}

// ---- symbol tables ----

static void check_symbol(elf* elf_, uint32_t table_type, const Elf64_Sym* symbol,
                         const char* name) {
    if (symbol->st_shndx == SHN_UNDEF) {
        if (table_type == SHT_DYNSYM) check_import(elf_, name);
        return;
    }
    if (table_type == SHT_DYNSYM && strcmp(name, NET_GAME_SYMBOL) == 0) elf_->has_entry = true;
    if (strcmp(name, "set_fast_math") == 0) // of crtfastmath.o
        fault(elf_,
              "has start-up code of -ffast-math, which makes small numbers zero: build and link it "
              "without -ffast-math, -Ofast and -funsafe-math-optimizations",
              "");
    // A global that is in both tables is reported once.
    if (table_type == SHT_SYMTAB || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
        check_defined(elf_, symbol, name);
}

static void check_table(elf* elf_, const Elf64_Shdr* table) {
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_offset > elf_->size ||
        table->sh_size > elf_->size - table->sh_offset) {
        fault(elf_, "has a damaged symbol table", "");
        return;
    }
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    elf_->source = "";
    for (uint64_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        if (!copy_at(elf_, table->sh_offset + i * sizeof symbol, &symbol, sizeof symbol)) return;
        const char* name = read_string(elf_, table->sh_link, symbol.st_name);
        if (!name) {
            fault(elf_, "has a symbol whose name is outside of its table", "");
            return;
        }
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) elf_->source = name;
        elf_->symbol = i;
        check_symbol(elf_, table->sh_type, &symbol, name);
    }
}

static void check_elf(elf* elf_) {
    if (!read_header(elf_)) return;
    for (uint32_t i = 0; i < elf_->header.e_shnum && elf_->dynamic.sh_type != SHT_DYNSYM; i++)
        (void)read_section(elf_, i, &elf_->dynamic);
    elf_->has_library = has_marked(elf_, "shoal_library_");
    elf_->is_sanitized =
        has_marked(elf_, "__asan_") || has_marked(elf_, "__tsan_") || has_marked(elf_, "__ubsan_");
    check_writable_bytes(elf_);
    for (uint32_t i = 0; i < elf_->header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!read_section(elf_, i, &section)) continue;
        if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_SYMTAB) continue;
        check_table(elf_, &section);
    }
    if (elf_->dynamic.sh_type != SHT_DYNSYM)
        fault(elf_, "has no dynamic symbols", "");
    else if (!elf_->has_entry)
        fault(elf_, "is not a game module: it has no symbol", NET_GAME_SYMBOL);
    note_libraries(elf_);
}

net_result net_module_check_bytes(const void* data, size_t size, const char* file,
                                  const base_reporter* reporter) {
    BASE_ASSERT(data || size == 0);
    elf elf_ = {.data = data, .size = size, .file = file, .reporter = reporter, .source = ""};
    check_elf(&elf_);
    return elf_.faults ? NET_ERR_MODULE : NET_OK;
}

net_result net_module_check(const char* file, const base_reporter* reporter) {
    BASE_ASSERT(file);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    net_result result = net_file_read(file, NET_MODULE_FILE_BYTES_MAX, reporter, &bytes);
    if (!result) result = net_module_check_bytes(bytes.data, bytes.size, file, reporter);
    base_bytes_deinit(&bytes);
    if (result) return result;

    net_module* module = NULL;
    result = net_module_open(file, NULL, reporter, &module);
    net_module_close(module);
    return result == NET_OK ? NET_OK : NET_ERR_MODULE;
}
