// SPDX-License-Identifier: MIT
// The golden packets of proto/WIRE.md: the real writer makes them from the page's own templates, the real
// mirror takes them in the order in which the page prints them. tests/conformance reads the same lines
// with a decoder of its own.
//
// After a change of the format the test prints the lines that the page has to say.
#include "repl_world.h"

#include "base/text.h"
#include "wire.pb-c.h"

#include <inttypes.h>

enum { PAGE_BYTES_MAX = 1 << 17, INDEX_MAX = 1000, LINE_BYTES_MAX = 4096, SEQ_FIRST = 65534 };

typedef struct story_side {
    ecs_world* world;
    net_schema* schema;
    ecs_template_id dot, lamp, sky, dot_lamp;
    ecs_component_id at, lit, power, tint;
} story_side;

typedef struct story {
    char* page;
    const char* next; // where the next line of packets is looked for
    uint32_t faults;
    story_side server, client;
    net_history* history;
    net_view* view;
    net_mirror* mirror;
    ecs_tick tick;
    uint16_t seq;
} story;

typedef struct story_letter {
    uint16_t seq;
    ecs_tick tick;
    uint8_t body[1100];
    size_t size;
} story_letter;

static char* read_page(void) {
    FILE* file = fopen(PROTO_FOLDER "/WIRE.md", "rb");
    assert_non_null(file);
    char* text = calloc(1, PAGE_BYTES_MAX);
    assert_non_null(text);
    assert_true(fread(text, 1, PAGE_BYTES_MAX - 1, file) > 0);
    fclose(file);
    return text;
}

static void open_side(story_side* side, const char* page, bool is_mirror) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = INDEX_MAX;
    assert_int_equal(ecs_world_create(&config, &side->world), ECS_OK);
    const char* text = strstr(page, "```blk\n");
    assert_non_null(text);
    text += strlen("```blk\n");
    const char* end = strstr(text, "```");
    assert_non_null(end);
    base_reporter reporter = base_reporter_stderr();
    assert_int_equal(
        ecs_template_load(side->world, "WIRE.md", text, (size_t)(end - text), &reporter), ECS_OK);
    assert_int_equal(ecs_world_seal(side->world, &reporter), ECS_OK);
    assert_int_equal(net_schema_create(NULL, side->world, NULL, 0, &reporter, &side->schema),
                     NET_OK);
    side->dot = ecs_template_find(side->world, "dot");
    side->lamp = ecs_template_find(side->world, "lamp");
    side->sky = ecs_template_find(side->world, "sky");
    side->dot_lamp = is_mirror ? ECS_TEMPLATE_NONE : ecs_template_find(side->world, "dot+lamp");
    side->at = ecs_component_find(side->world, "at");
    side->lit = ecs_component_find(side->world, "lit");
    side->power = ecs_component_find(side->world, "power");
    side->tint = ecs_component_find(side->world, "tint");
}

static void open_story(story* s) {
    *s = (story){.page = read_page(), .seq = SEQ_FIRST};
    s->next = s->page;
    open_side(&s->server, s->page, false);
    open_side(&s->client, s->page, true);
    net_rows* rows = net_schema_rows(s->server.schema);
    assert_int_equal(net_history_create(NULL, rows, INDEX_MAX, &s->history), NET_OK);
    assert_int_equal(net_view_create(NULL, s->history, &s->view), NET_OK);
    net_mirror_config config = {.world = s->client.world,
                                .rows = net_schema_rows(s->client.schema),
                                .index_max = INDEX_MAX};
    assert_int_equal(net_mirror_create(&config, &s->mirror), NET_OK);
}

static void close_story(story* s) {
    net_mirror_destroy(s->mirror);
    net_view_destroy(s->view);
    net_history_destroy(s->history);
    story_side* sides[] = {&s->server, &s->client};
    for (uint32_t i = 0; i < 2; i++) {
        net_schema_destroy(sides[i]->schema);
        ecs_world_destroy(sides[i]->world);
    }
    free(s->page);
}

// The next line of the page that begins with the first word of `line` is this line.
static void expect_line(story* s, const char* line) {
    char word[16], found[LINE_BYTES_MAX] = "nothing more of the kind";
    assert_true(base_text_format(word, sizeof word, "\n%.*s", (int)strcspn(line, " ") + 1, line));
    const char* at = strstr(s->next, word);
    if (at) {
        s->next = at + 1;
        assert_true(
            base_text_format(found, sizeof found, "%.*s", (int)strcspn(s->next, "\n"), s->next));
    }
    if (strcmp(found, line) == 0) return;
    s->faults++;
    fprintf(stderr, "the page should say: %s\n", line);
}

static story_letter write_letter(story* s) {
    ecs_step step = {.tick = ++s->tick, .dt = 0.5f};
    ecs_world_step(s->server.world, &step);
    assert_int_equal(net_history_step(s->history, s->server.world, s->tick), NET_OK);
    ecs_changes_clear(s->server.world);
    assert_int_equal(net_view_follow(s->view), NET_OK);
    story_letter made = {.seq = s->seq++, .tick = s->tick};
    assert_int_equal(net_view_write(s->view, made.seq, made.body, sizeof made.body, &made.size),
                     NET_OK);
    return made;
}

static void deliver(story* s, story_letter* letter) {
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.seq = letter->seq;
    packet.tick = letter->tick;
    packet.has_ack = letter->tick > 1;
    packet.ack = letter->tick > 1 ? (uint32_t)letter->tick - 1 : 0;
    packet.body = (ProtobufCBinaryData){letter->size, letter->body};
    uint8_t bytes[1172];
    size_t size = shoal__wire__state_packet__pack(&packet, bytes);
    char line[LINE_BYTES_MAX];
    int length = snprintf(line, sizeof line, "packet seq=%u tick=%" PRIu64 " hex=", letter->seq,
                          letter->tick);
    for (size_t i = 0; i < size; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, "%02x", bytes[i]);
    expect_line(s, line);
    assert_int_equal(net_mirror_read(s->mirror, letter->tick, letter->body, letter->size, NULL),
                     NET_OK);
    assert_true(net_view_acked(s->view, letter->seq));
}

static void expect_client(story* s) {
    char line[128];
    net_scope scope = net_scope_walk(s->client.schema, s->client.world, NULL, NULL);
    (void)base_text_format(line, sizeof line, "scope entities=%u hash=%016" PRIx64,
                           (unsigned)scope.entities, scope.hash);
    expect_line(s, line);
}

static void expect_scope(story* s) {
    expect_client(s);
    assert_true(net_scope_walk(s->client.schema, s->client.world, NULL, NULL).hash ==
                net_scope_walk(s->server.schema, s->server.world, NULL, NULL).hash);
}

static ecs_entity create(story* s, ecs_template_id template_id) {
    ecs_entity entity;
    assert_int_equal(ecs_create(s->server.world, template_id, NULL, 0, &entity), ECS_OK);
    return entity;
}

static void set(story* s, ecs_entity entity, ecs_component_id component, const void* value) {
    assert_int_equal(ecs_set(s->server.world, entity, component, value), ECS_OK);
}

static void tell(story* s) {
    story_side* server = &s->server;
    ecs_entity dot = create(s, server->dot), lamp = create(s, server->lamp);
    ecs_entity sky = create(s, server->sky), both = create(s, server->dot_lamp);
    set(s, dot, server->at, &(ecs_vec2){-1.5f, 2});
    story_letter first = write_letter(s); // creates
    deliver(s, &first);
    expect_scope(s);

    set(s, dot, server->at, &(ecs_vec2){-1.25f, 7});
    set(s, lamp, server->lit, &(bool){true});
    set(s, lamp, server->power, &(uint16_t){65535});
    set(s, both, server->power, &(uint16_t){299});
    story_letter second = write_letter(s); // updates with a base
    deliver(s, &second);
    expect_scope(s);

    assert_int_equal(ecs_destroy(server->world, dot), ECS_OK);
    assert_int_equal(ecs_recreate(server->world, lamp, server->dot, NULL, 0), ECS_OK);
    story_letter third = write_letter(s); // a destroy, and a create that changes a template
    deliver(s, &third);
    expect_scope(s);

    set(s, sky, server->tint, &(ecs_color){11, 20, 30, 255});
    story_letter fourth = write_letter(s);
    set(s, sky, server->tint, &(ecs_color){12, 200, 30, 255});
    set(s, both, server->at, &(ecs_vec2){0.0625f, 0});
    story_letter fifth = write_letter(s);
    deliver(s, &fifth);
    deliver(s, &fourth); // late: a base, no news
    expect_scope(s);

    while (s->tick < 299)
        (void)write_letter(s);
    set(s, sky, server->tint, &(ecs_color){13, 200, 30, 0});
    story_letter settled = write_letter(s);
    deliver(s, &settled);
    expect_scope(s);

    // Too many changes that nobody acknowledged: the base is forgotten, the template's row takes its place.
    for (uint8_t i = 0; i < 70; i++) {
        set(s, sky, server->tint, &(ecs_color){i, 1, 2, 3});
        (void)write_letter(s);
    }
    set(s, sky, server->tint, &(ecs_color){0, 20, 3, 255});
    story_letter absolute = write_letter(s);
    deliver(s, &absolute);
    expect_scope(s);
}

// `accepted` and `refused` lines: bodies that no writer of ours makes.
static uint32_t judge_bodies(story* s) {
    uint32_t count = 0;
    for (const char* at = strchr(s->next, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
        char word[16], hex[128];
        uint64_t tick;
        if (sscanf(at + 1, "%15[a-z] tick=%" SCNu64 " body=%127[0-9a-f]", word, &tick, hex) != 3)
            continue;
        uint8_t body[64];
        size_t size = strlen(hex) / 2;
        assert_true(size <= sizeof body);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &body[i]), 1);
        net_result result = net_mirror_read(s->mirror, tick, body, size, NULL);
        if ((result == NET_OK) != (strcmp(word, "accepted") == 0)) {
            s->faults++;
            fprintf(stderr, "result %d of %.*s\n", (int)result, (int)strcspn(at + 1, "\n"), at + 1);
        }
        count++;
    }
    return count;
}

static void expect_schema(story* s) {
    uint32_t count;
    const net_schema_item* items = net_schema_items(s->server.schema, &count);
    char line[256];
    for (uint32_t i = 0; i < count; i++) {
        const char* space = strchr(items[i].name, ' ');
        assert_true(base_text_format(line, sizeof line, "item kind=%.*s name=%s hash=%016" PRIx64,
                                     (int)(space - items[i].name), items[i].name, space + 1,
                                     items[i].hash));
        expect_line(s, line);
    }
    (void)base_text_format(line, sizeof line, "schema hash=%016" PRIx64,
                           net_schema_hash(s->server.schema));
    expect_line(s, line);
}

static void the_packets_of_the_page_are_written_read_and_refused_as_it_says(void** state) {
    (void)state;
    static story s;
    open_story(&s);
    expect_schema(&s);
    tell(&s);
    const net_mirror_counters* mirror = net_mirror_get_counters(s.mirror);
    assert_int_equal(mirror->stale_records, 1);
    const net_view_counters* view = net_view_get_counters(s.view);
    assert_true(view->records_create >= 5 && view->records_destroy >= 1);
    assert_true(view->records_update >= 5);
    assert_true(view->records_settled >= 1 && view->records_absolute >= 1);
    assert_true(judge_bodies(&s) >= 25);
    expect_client(&s);
    assert_int_equal(s.faults, 0);
    close_story(&s);
}

int main(void) {
    const struct CMUnitTest cases[] = {
        TEST(the_packets_of_the_page_are_written_read_and_refused_as_it_says),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
