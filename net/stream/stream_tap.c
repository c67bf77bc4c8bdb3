// SPDX-License-Identifier: MIT
// The simulation's thread pushes each record into a ring and goes on; it never waits for a broker.
// A ring that is full takes nothing until it was emptied, so what is in it is one run of records.
// The stream's thread takes those; for the ones in between it reads the log's files (and its queue,
// which has what the files lack): the log is the source, the ring only saves looking into it.
//
//     numbers   1 ... 700 | 701 ... 900 | 901 ...
//                  ring   |   files     |  ring
//
// In the log a record has no number of the stream. It is found by its tick, and by how many records
// of that tick are in front of it.
#include "stream/stream_frame.h"

#include "base/assert.h"
#include "base/spsc.h"
#include "log/log_read.h"

#include <stdatomic.h>

enum {
    PREFIX_BYTES = 24, // number, tick, kind
};

// Behind a record: its tick, and the streamed records of that tick up to it.
typedef struct place {
    ecs_tick tick;
    uint64_t count;
} place;

struct net_stream_tap {
    base_owner owner;
    net_stream_tap_config config;
    base_spsc* ring;

    // Of the simulation's thread.
    bool is_following; // of both threads: they begin with net_stream_tap_begin
    bool is_leaving_out;
    uint64_t counted;
    uint64_t logged;          // records of the log, which may have more than the stream
    uint64_t ahead;           // how many more
    place appended;           // the newest record
    _Atomic uint64_t records; // counted, for the stream's

    // Of the stream's thread.
    _Atomic uint64_t moved; // `ahead`, of a stream that began again: its numbers are the log's
    uint64_t number;        // of the newest record that was given; 0: none
    place behind;           // it
    net_stream_record given;
    bool is_in_ring;  // the record of `behind`: cursor follows it
    bool may_restart; // the reader is at the log's first record, which may be asked for
    uint64_t cursor;
    uint8_t* memory; // of a record out of a file
    net_log_reader* reader;
    net_log_cursor walk;
};

static void step(place* at, ecs_tick tick) {
    if (tick != at->tick) *at = (place){.tick = tick};
    at->count++;
}

// ---- the simulation's thread ----

static bool push_record(net_stream_tap* self, uint32_t kind, ecs_tick tick, const void* data,
                        uint32_t size) {
    uint8_t* to = base_spsc_reserve(self->ring, PREFIX_BYTES + size);
    if (!to) return false;
    base_store_le64(to, self->counted);
    base_store_le64(to + 8, tick);
    base_store_le64(to + 16, kind);
    const uint32_t bytes =
        net_stream_record_write((net_log_kind)kind, data, size, to + PREFIX_BYTES);
    const bool is_pushed = base_spsc_commit(self->ring, PREFIX_BYTES + bytes);
    BASE_ASSERT(is_pushed);
    return true;
}

static void take_record(void* context, uint32_t kind, ecs_tick tick, const void* data,
                        uint32_t size) {
    net_stream_tap* self = context;
    step(&self->appended, tick);
    self->logged++;
    if (self->is_following) return;
    self->counted++;
    if (!self->is_leaving_out || base_spsc_used(self->ring) == 0)
        self->is_leaving_out = !push_record(self, kind, tick, data, size);
    atomic_store_explicit(&self->records, self->counted, memory_order_release);
    // What an operator did goes with the tick that it belongs to.
    if (self->config.wake && kind != NET_LOG_KIND_CONTROL) self->config.wake(self->config.context);
}

net_log_tap net_stream_tap_log(net_stream_tap* tap) {
    return (net_log_tap){.record = take_record, .context = tap};
}

uint64_t net_stream_tap_records(const net_stream_tap* tap) {
    return atomic_load_explicit(&tap->records, memory_order_acquire) + atomic_load(&tap->moved);
}

uint64_t net_stream_tap_waiting(const net_stream_tap* tap) {
    return base_spsc_used(tap->ring);
}

// ---- the stream's thread ----

static void note(net_stream_tap* self, uint64_t number, net_log_kind kind, ecs_tick tick) {
    step(&self->behind, tick);
    self->number = number;
    self->given.end_tick = kind == NET_LOG_KIND_END ? tick : 0;
    self->given.is_close = kind == NET_LOG_KIND_CLOSE;
}

static void close_reader(net_stream_tap* self) {
    net_log_reader_destroy(self->reader);
    self->reader = NULL;
}

// @return true when the ring begins with this record; it is given.
static bool give_from_ring(net_stream_tap* self, uint64_t number) {
    if (self->is_in_ring) base_spsc_pop_to(self->ring, self->cursor);
    self->is_in_ring = false;
    uint64_t cursor = base_spsc_tail(self->ring);
    uint32_t size;
    bool is_damaged = false;
    for (const uint8_t* data; (data = base_spsc_next(self->ring, &cursor, &size, &is_damaged));
         base_spsc_pop_to(self->ring, cursor)) {
        const uint64_t first = base_load_le64(data) + atomic_load(&self->moved);
        if (first < number) continue; // it was read from the files
        if (first > number) return false;
        self->given = (net_stream_record){.data = data + PREFIX_BYTES, .size = size - PREFIX_BYTES};
        self->is_in_ring = true;
        self->cursor = cursor;
        note(self, number, (net_log_kind)base_load_le64(data + 16), base_load_le64(data + 8));
        close_reader(self);
        return true;
    }
    BASE_ASSERT(!is_damaged); // the memory is ours
    return false;
}

// The next record of a walk that a stream has. @return false: the log has no further one, or some
// are missing in front of it.
static bool next_streamed(net_stream_tap* self, net_log_record* record) {
    while (net_log_cursor_next(self->reader, &self->walk, record)) {
        if (self->walk.resumed > 0) return false;
        if (net_log_kinds[record->kind].is_streamed) return true;
    }
    return false;
}

static uint32_t copy_record(net_stream_tap* self, const net_log_record* record) {
    return net_stream_record_write(record->kind, record->body + record->body_bytes - record->size,
                                   record->size, self->memory);
}

// Open the log and go behind the newest record that was given.
static bool find_place(net_stream_tap* self) {
    const base_reporter* silent = NULL;
    net_log_record record;
    (void)!net_log_reader_create(self->config.allocator, self->config.log_file, silent,
                                 &self->reader);
    if (!self->reader) return false;
    const place behind = self->behind;
    const net_log_keyframe* keyframe;
    self->walk = behind.tick > 1 ? net_log_reader_seek(self->reader, behind.tick - 1, &keyframe)
                                 : net_log_cursor_begin(self->reader);
    for (uint64_t count = 0; count < behind.count;) {
        if (!next_streamed(self, &record) || record.tick > behind.tick) return false;
        count += record.tick == behind.tick;
    }
    return true;
}

static bool give_from_log(net_stream_tap* self, uint64_t number) {
    net_log_record record;
    if (!self->reader && !find_place(self)) {
        close_reader(self);
        return false;
    }
    if (!next_streamed(self, &record)) {
        close_reader(self); // it shows the log as it was when it was opened
        return false;
    }
    self->given = (net_stream_record){.data = self->memory, .size = copy_record(self, &record)};
    note(self, number, record.kind, record.tick);
    return true;
}

static net_stream_found next(void* context, uint64_t number, net_stream_record* record) {
    net_stream_tap* self = context;
    if (self->is_following) return NET_STREAM_FOUND_NOTHING;
    if (self->may_restart && number == 1) {
        self->number = 0;
        self->behind = (place){.tick = 0};
        atomic_store(&self->moved, self->ahead);
    } else if (self->may_restart) {
        close_reader(self);
    }
    self->may_restart = false;
    BASE_ASSERT(number == self->number + 1 || (number == self->number && number > 0));
    if (number == self->number) {
        *record = self->given;
        return NET_STREAM_FOUND_RECORD;
    }
    const uint64_t newest = net_stream_tap_records(self); // before the look into the ring
    bool is_found = give_from_ring(self, number);
    if (!is_found && number > newest) return NET_STREAM_FOUND_NOTHING;
    // A log that was walked to its end may have grown.
    for (uint32_t i = 0; i < 2 && !is_found; i++)
        is_found = give_from_log(self, number);
    if (!is_found) return NET_STREAM_FOUND_LOST;
    *record = self->given;
    return NET_STREAM_FOUND_RECORD;
}

static const base_bytes* restart(void* context) {
    net_stream_tap* self = context;
    const base_reporter* silent = NULL;
    close_reader(self);
    (void)!net_log_reader_create(self->config.allocator, self->config.log_file, silent,
                                 &self->reader);
    const net_log_info* info = self->reader ? net_log_reader_info(self->reader) : NULL;
    if (!info || info->first_tick > 1 || info->lost_ticks > 0) {
        close_reader(self);
        return NULL;
    }
    self->walk = net_log_cursor_begin(self->reader);
    self->may_restart = true;
    return &self->reader->header;
}

net_stream_source net_stream_tap_source(net_stream_tap* tap) {
    return (net_stream_source){.context = tap, .next = next, .restart = restart};
}

// ---- a log that goes on ----

static net_result refuse_records(const net_stream_tap* self, const base_reporter* reporter,
                                 const char* why) {
    base_report(reporter, self->config.log_file, 0, "the stream is not that of this log: %s", why);
    return NET_ERR_DIVERGED;
}

net_result net_stream_tap_resume(net_stream_tap* self, uint64_t records, const void* last,
                                 uint32_t last_bytes, const base_reporter* reporter) {
    BASE_ASSERT(self->counted == 0 && self->number == 0);
    const net_result result = net_log_reader_create(self->config.allocator, self->config.log_file,
                                                    reporter, &self->reader);
    if (!self->reader) return result;
    bool is_same = records == 0;
    net_log_record record;
    self->walk = net_log_cursor_begin(self->reader);
    while (next_streamed(self, &record)) {
        if (++self->counted > records) continue;
        note(self, self->counted, record.kind, record.tick);
        if (self->counted == records)
            is_same = copy_record(self, &record) == last_bytes &&
                      memcmp(self->memory, last, last_bytes) == 0;
    }
    const bool has_all = self->walk.resumed == 0 && !self->walk.has_failed;
    close_reader(self);
    self->logged = self->counted;
    atomic_store_explicit(&self->records, self->counted, memory_order_release);
    if (!has_all) return refuse_records(self, reporter, "ticks are missing in the log");
    if (self->counted < records)
        return refuse_records(
            self, reporter,
            "it has more than the log: another server, or a standby, went on with it");
    if (!is_same) return refuse_records(self, reporter, "its last record is another one");
    return NET_OK;
}

void net_stream_tap_begin(net_stream_tap* self, uint64_t records) {
    uint64_t cursor = base_spsc_tail(self->ring);
    uint32_t size;
    bool is_damaged = false;
    while (base_spsc_next(self->ring, &cursor, &size, &is_damaged))
        ;
    base_spsc_pop_to(self->ring, cursor);
    close_reader(self);
    self->is_in_ring = self->is_leaving_out = self->is_following = false;
    self->behind = self->appended;
    self->number = self->counted = records;
    self->ahead = self->logged - records;
    atomic_store_explicit(&self->records, records, memory_order_release);
}

net_stream_tap* net_stream_tap_create(const net_stream_tap_config* config) {
    const uint64_t waiting =
        config->waiting_bytes > 0 ? config->waiting_bytes : NET_STREAM_WAITING_BYTES_DEFAULT;
    BASE_ASSERT(config->log_file && (waiting & (waiting - 1)) == 0 && waiting >= 64);
    net_stream_tap* tap = base_owner_create(config->allocator, sizeof *tap);
    const base_allocator* allocator = &tap->owner.allocator;
    tap->config = *config;
    tap->is_following = config->is_following;
    tap->memory = base_allocate(allocator, NET_LOG_RECORD_BYTES_MAX);
    void* ring = base_allocate(allocator, BASE_SPSC_HEADER_BYTES + (size_t)waiting);
    tap->ring = base_spsc_init(ring, waiting, 0);
    return tap;
}

void net_stream_tap_destroy(net_stream_tap* tap) {
    if (!tap) return;
    close_reader(tap);
    base_owner_destroy(tap);
}
