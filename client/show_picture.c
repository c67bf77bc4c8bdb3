// SPDX-License-Identifier: MIT
// What a frame shows: the game, and over it the screens, the panel and the help.
#include "show.h"

#include "base/math.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

#define LOOK_US 250000u                 ///< between two looks at the file
#define LOST_PREFIX "connection lost: " ///< first words of the client's report of it

static const client_help_row help_rows[] = {
    {"Mouse", "instead of keys"},
    {"F1", "connection, view and frames as plots"},
    {"F11", "fullscreen, and back"},
    {"F2, H", "this help"},
    {"F3", "change keys"},
    {"M", "sound on and off"},
    {"Escape", "leave"},
    {"Enter, T", "say something to the others"}, // where the game takes it
};

static const client_help_row watch_help[] = {
    {"Right, Tab", "the next player"},
    {"Left", "the one before"},
    {"F1", "connection, view and frames as plots"},
    {"F2, H", "this help"},
    {"Escape", "leave"},
};

static void draw_watching(const show* on, const net_draw* draw, float width, float height) {
    const net_client* client = show_player(on, 0)->client;
    const uint32_t watched = net_client_watched(client);
    const char* name = net_client_player_name(client, watched);
    uint32_t count = 0, place = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0;) {
        count++;
        place += at <= watched;
    }
    char text[128];
    if (name)
        (void)base_text_format(text, sizeof text, "Watching %s (%u of %u)", name, place, count);
    else
        (void)base_text_copy(text, sizeof text, "No player is here");
    client_screen_watching(draw, width, height, text, count > 1 ? "Left, Right: another" : "");
}

// ---- faults, while the match continues: the lines of --window faults=FILE, which is there as long
// as a build fails, and what this process reported

static void read_lines(show_faults* faults, FILE* file) {
    char line[CLIENT_FAULT_BYTES];
    while (faults->count < CLIENT_FAULTS_MAX && fgets(line, sizeof line, file)) {
        const bool is_whole = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n")] = '\0';
        if (base_shown_copy(faults->lines[faults->count], sizeof line, line)) faults->count++;
        for (int byte = 0; !is_whole && byte != EOF && byte != '\n';)
            byte = fgetc(file);
    }
}

static void look_for_faults(client_faults* faults, const char* name, uint64_t now_us) {
    if (!name || (faults->looked_us && now_us < faults->looked_us + LOOK_US)) return;
    faults->looked_us = now_us;
    faults->built.count = 0;
    FILE* file = fopen(name, "re");
    if (!file) return; // no fault
    read_lines(&faults->built, file);
    (void)fclose(file);
}

// A fault of one line is reported by the match and by each client's world.
static void keep_fault(void* context, const char* file, uint32_t line, const char* message) {
    client_faults* self = context;
    show_faults* faults = &self->reported;
    char text[CLIENT_FAULT_BYTES];
    uint32_t i = 0;
    self->reporter.report(self->reporter.context, file, line, message);
    if (!file || line == 0 || base_report_kind(message) > 0) return;
    base_report_text(text, sizeof text, file, line, message);
    const char* end = strstr(text, ": error: ");
    const size_t place = end ? (size_t)(end - text) : sizeof text;
    pthread_mutex_lock(&self->mutex);
    while (i < faults->count && strncmp(faults->lines[i], text, place) != 0)
        i++;
    if (i == faults->count && i < CLIENT_FAULTS_MAX)
        memcpy(faults->lines[faults->count++], text, sizeof text);
    pthread_mutex_unlock(&self->mutex);
}

void client_window_keep_faults(client_program* program) {
    client_faults* faults = program->faults =
        base_allocate_zero(&program->owner.allocator, sizeof *faults);
    pthread_mutex_init(&faults->mutex, NULL);
    faults->reporter = program->reporter;
    program->reporter = (base_reporter){keep_fault, faults};
}

void client_window_clear_faults(client_faults* faults) {
    pthread_mutex_lock(&faults->mutex);
    faults->reported.count = 0;
    pthread_mutex_unlock(&faults->mutex);
}

static void draw_faults(client_faults* faults, const net_draw* draw, float width) {
    const char* lines[2 * CLIENT_FAULTS_MAX];
    uint32_t count = 0;
    pthread_mutex_lock(&faults->mutex);
    for (uint32_t i = 0; i < faults->built.count; i++)
        lines[count++] = faults->built.lines[i];
    for (uint32_t i = 0; i < faults->reported.count; i++)
        lines[count++] = faults->reported.lines[i];
    client_screen_faults(draw, width, lines, count < CLIENT_FAULTS_MAX ? count : CLIENT_FAULTS_MAX);
    pthread_mutex_unlock(&faults->mutex);
}

// ---- the picture ----

// @return true when there is a picture of every person's game.
static bool prepare_games(show* on, uint64_t now_us) {
    bool is_whole = on->people_count > 0;
    for (uint32_t i = 0; i < on->people_count; i++)
        is_whole &= net_presenter_frame(on->people[i].presenter, now_us);
    return is_whole;
}

// The one whose session is in trouble; else the first.
static const net_client* find_worst(const show* on) {
    for (uint32_t i = 0; i < on->people_count; i++) {
        const net_client* client = show_player(on, i)->client;
        if (net_client_get_phase(client) != NET_CLIENT_PLAYING) return client;
    }
    return show_player(on, 0)->client;
}

static const char* title_of(const show* on) {
    return on->program->module ? on->program->module->game->title : NULL;
}

static void draw_session(show* on, const net_draw* draw, float width, float height,
                         bool has_picture) {
    const net_client* client = find_worst(on);
    const char* address = client_player_address(on->program, 0);
    net_client_meter meter;
    switch (net_client_get_phase(client)) {
    case NET_CLIENT_CONNECTING:
    case NET_CLIENT_GREETING:
        client_screen_connecting(draw, width, height, address, title_of(on), draw->time_s);
        break;
    case NET_CLIENT_RESUMING: {
        net_client_get_meter(client, &meter);
        double quiet_s = (double)meter.quiet_us * 1e-6;
        double left_s = NET_SILENCE_MS_MAX / 1000.0 - quiet_s;
        client_screen_resuming(draw, width, height, quiet_s, left_s > 0.0 ? left_s : 0.0,
                               draw->time_s);
        break;
    }
    case NET_CLIENT_PLAYING:
    case NET_CLIENT_ENDED:
        if (!has_picture) client_screen_waiting(draw, width, height, title_of(on), draw->time_s);
        break;
    }
    if (has_picture && show_is_watching(on)) draw_watching(on, draw, width, height);
    if (on->has_panel) client_panel_draw(&on->panel, draw);
    if (on->binder.is_open) client_binder_draw(&on->binder, &on->bindings, draw, width, height);
    if (on->has_help) {
        const net_game_module* game = on->program->module->game;
        if (show_is_watching(on))
            client_screen_help(draw, width, height, game->title, NULL, 0, watch_help,
                               BASE_COUNT(watch_help), false);
        else
            client_screen_help(draw, width, height, game->title, on->bindings.actions,
                               on->bindings.count, help_rows,
                               BASE_COUNT(help_rows) - !game->human_text, on->pads != 0);
    }
}

// 1 until `length_s` are over, then down to 0 within a second.
static float part_of(uint64_t since_us, uint64_t now_us, double length_s) {
    const double left_s = length_s + 1.0 - (double)(now_us - since_us) * 1e-6;
    return base_clamp((float)left_s, 0.0f, 1.0f);
}

// How much of the legend is seen.
static float legend_part(const show* on, uint64_t now_us) {
    if (!client_player_is_person(on->program, 0) || on->has_help || on->has_panel) return 0.0f;
    return on->playing_us ? part_of(on->playing_us, now_us, SHOW_LEGEND_S) : 1.0f;
}

static float draw_legend(show* on, const net_draw* draw, float width, float height, float part) {
    return client_screen_legend(draw, width, height, on->bindings.actions, on->bindings.count,
                                on->pads != 0, part);
}

// The parts of several people lie side by side, or in a high window one above the other. The legend
// has a strip of its own below: the game's picture has texts there too.
static client_area area_of(const show* on, uint32_t person, float width, float height,
                           float strip) {
    const uint32_t count = on->people_count;
    const uint32_t columns = count == 1 || (count == 2 && width < height) ? 1 : 2;
    const uint32_t rows = (count + columns - 1) / columns;
    const float gap = count > 1 ? 0.002f : 0.0f;
    // The panel is beside the field, where at least as much of the window is left for that.
    const float panel = CLIENT_PANEL_LEFT + CLIENT_PANEL_WIDTH;
    const float from = on->has_panel && width >= 2.0f * panel ? panel / width : 0.0f;
    const float wide = (1.0f - from) / (float)columns, high = (1.0f - strip / height) / (float)rows;
    const float left = from + (float)(person % columns) * wide;
    const float top = (float)(person / columns) * high;
    return (client_area){left + gap, top + gap, left + wide - gap, top + high - gap};
}

static float strip_of(show* on, const net_draw* draw, float width, float height, uint64_t now_us) {
    if (show_is_watching(on)) return CLIENT_WATCHING_HEIGHT;
    if (!(legend_part(on, now_us) > 0.0f)) return 0.0f;
    return draw_legend(on, draw, width, height, 0.0f);
}

static void place_game(show* on, uint32_t person, uint64_t now_us) {
    float width = 0.0f, height = 0.0f;
    const net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_draw_canvas_size(client_window_canvases(on->window), CLIENT_CANVAS_SCREEN, &width,
                            &height);
    const float strip = strip_of(on, &draw, width, height, now_us);
    client_draw_place_view(client_window_canvases(on->window),
                           area_of(on, person, width, height, strip));
}

// The first person is the last: the pointer is in its part.
static void draw_games(show* on, uint64_t now_us) {
    for (uint32_t i = on->people_count; i-- > 0;) {
        net_presenter* presenter = on->people[i].presenter;
        place_game(on, i, now_us);
        net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_VIEW);
        draw.player = net_client_player(show_player(on, i)->client);
        draw.tick = net_presenter_tick(presenter);
        net_presenter_draw(presenter, &draw);
    }
    // Two who hear one match from two places would hear everything twice: the first one does.
    const net_heard* heard = NULL;
    const ecs_entity listener = net_client_player(show_player(on, 0)->client);
    const uint32_t count =
        net_match_hear(net_presenter_match(on->people[0].presenter), listener, &heard);
    client_sound_play(on->sound, heard, count);
}

// Whose part it is, and by what the person plays. It stays where a person has nothing.
static void draw_owner(const show* on, uint32_t person, const net_draw* draw, float width,
                       float height, float strip, float part) {
    const char* device = person == 0 ? "keys and mouse" : NULL;
    for (uint32_t pad = 0; pad < CLIENT_PADS_MAX; pad++)
        if ((on->pads >> pad & 1u) != 0 && on->pad_person[pad] == person)
            device = client_window_pad_name(on->window, pad);
    char text[96];
    (void)base_text_format(text, sizeof text, "%s: %s", show_player(on, person)->name,
                           device ? device : "no game controller");
    const client_area area = area_of(on, person, width, height, strip);
    client_screen_tag(draw, area.left * width + 6.0f, area.top * height + 6.0f, text,
                      device ? part : 1.0f);
}

// What a person reads at the lower edge: how to play, and what happened to the game controllers.
static void draw_hints(show* on, const net_draw* draw, float width, float height, uint64_t now_us) {
    if (!on->playing_us) on->playing_us = now_us;
    (void)draw_legend(on, draw, width, height, legend_part(on, now_us));
    const float strip = strip_of(on, draw, width, height, now_us);
    const float part = part_of(on->playing_us, now_us, SHOW_LEGEND_S);
    for (uint32_t i = 0; i < on->people_count && on->people_count > 1; i++)
        draw_owner(on, i, draw, width, height, strip, part);
    const char* still = net_client_still(find_worst(on));
    if (on->line.is_open)
        client_screen_line(draw, width, height, on->line.text, draw->time_s);
    else if (still)
        client_screen_notice(draw, width, height, still, 1.0f);
    else if (on->notice_us)
        client_screen_notice(draw, width, height, on->notice,
                             part_of(on->notice_us, now_us, SHOW_NOTICE_S));
}

static void draw_end(show* on, const net_draw* draw, float width, float height, bool has_picture) {
    const client_player* one = on->program->players ? show_player(on, 0) : NULL;
    const char* headline = "No connection";
    const char* reason = on->last_report;
    bool is_fault = true;
    switch (one && one->client ? net_client_get_end(one->client) : NET_CLIENT_END_UNREACHABLE) {
    case NET_CLIENT_END_GOODBYE:
        headline = "The match is over";
        reason = "The server said goodbye.";
        is_fault = false;
        break;
    case NET_CLIENT_END_LOST:
        headline = "The connection is lost";
        // Without such a report, the server ended the session.
        if (strncmp(reason, LOST_PREFIX, strlen(LOST_PREFIX)) == 0)
            reason += strlen(LOST_PREFIX);
        else
            reason = "The server ended the session.";
        break;
    case NET_CLIENT_END_REFUSED:
        headline = "The server refuses";
        break;
    default:
        break;
    }
    if (!has_picture) client_screen_background(draw, width, height);
    client_screen_ended(draw, width, height, is_fault, headline, reason,
                        on->program->config.is_choosing ? "Enter: once more      Esc: servers"
                                                        : "Enter: once more      Esc: leave");
}

// The file of the picture that is due at the shown tick; NULL: none is.
static const char* find_shot(show* on, char* path, size_t bytes) {
    const client_config* config = &on->program->config;
    if (!config->shot || !config->shot_tick || (on->is_shot && !config->shot_every)) return NULL;
    uint64_t due = config->shot_tick + config->shot_every * on->shot_count;
    if (net_presenter_tick(on->people[0].presenter) < (double)due) return NULL;
    if (!config->shot_every) return config->shot;
    const char* dot = strrchr(config->shot, '.');
    int stem = (int)(dot ? dot - config->shot : (ptrdiff_t)strlen(config->shot));
    bool fits =
        base_text_format(path, bytes, "%.*s-%04u.png", stem, config->shot, ++on->shot_count);
    return fits ? path : NULL;
}

void show_draw(show* on, uint64_t now_us, show_picture what, const char* shot) {
    float width = 0.0f, height = 0.0f;
    client_window_begin_frame(on->window, now_us);
    net_sentry_busy(on->program->sentry);
    bool has_picture = prepare_games(on, now_us);
    if (has_picture) draw_games(on, now_us);
    net_sentry_rest(on->program->sentry);
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_draw_canvas_size(client_window_canvases(on->window), CLIENT_CANVAS_SCREEN, &width,
                            &height);
    if (what == SHOW_CONNECTING && on->program->wants_follow) {
        client_screen_going_on(&draw, width, height, client_player_address(on->program, 0),
                               draw.time_s);
    } else if (what == SHOW_CONNECTING) {
        client_screen_connecting(&draw, width, height, on->program->config.address, title_of(on),
                                 draw.time_s);
    } else if (what == SHOW_ENDED) {
        draw_end(on, &draw, width, height, has_picture);
    } else {
        if (has_picture) draw_hints(on, &draw, width, height, now_us);
        draw_session(on, &draw, width, height, has_picture);
        look_for_faults(on->program->faults, on->program->config.faults, now_us);
        draw_faults(on->program->faults, &draw, width);
    }
    char path[1024];
    if (!shot && has_picture) shot = find_shot(on, path, sizeof path);
    if (shot) on->is_shot = true;
    if (!client_window_end_frame(on->window, shot)) on->has_failed = true;
}
