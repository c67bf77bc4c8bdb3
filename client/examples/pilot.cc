// SPDX-License-Identifier: MIT
// A player in C++17 against the C ABI: what an engine does in its frame. It plays breakout as a bot would,
// reads the newest world for its decisions and the shown one for a picture, which here is counted only.
//
//     pilot 127.0.0.1:7777 [TICKS] [NETWORK]      leaves after TICKS (0: stays)
//
// Outside of this tree: find_package(Shoal), target_link_libraries(pilot PRIVATE shoal::client).
#include <shoal_client.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace {

constexpr double field_width = 1200.0;
constexpr double pad_top = 756.0;

struct closer {
    void operator()(shoal_client* client) const { shoal_client_destroy(client); }
};
using client_ptr = std::unique_ptr<shoal_client, closer>;

// A component of a world, by names found once.
class component {
  public:
    component(const shoal_world* world, const char* name)
        : world_(world), number_(shoal_world_component(world, name)),
          shape_(shoal_world_component_shape(world, number_)) {}

    std::optional<double> read(shoal_entity entity, const char* field) const {
        double value = 0.0;
        const int32_t at = shoal_shape_field(shape_, field);
        if (shoal_world_read(world_, entity, number_, at, &value, 1) != 1) return std::nullopt;
        return value;
    }
    shoal_entity next(shoal_entity after) const { return shoal_world_next(world_, number_, after); }

  private:
    const shoal_world* world_;
    uint32_t number_;
    const shoal_shape* shape_;
};

// Where a ball crosses the line of the pads, with the side walls as mirrors.
double landing_x(double x, double y, double vel_x, double vel_y) {
    const double at = std::fmod(x + vel_x * (pad_top - y) / vel_y, 2.0 * field_width);
    const double positive = at < 0.0 ? at + 2.0 * field_width : at;
    return positive > field_width ? 2.0 * field_width - positive : positive;
}

void set_input(shoal_client* client, const char* field, double value) {
    const uint32_t message = shoal_client_message(client, "PadInput");
    const shoal_shape* shape = shoal_client_message_shape(client, message);
    shoal_client_set(client, message, shoal_shape_field(shape, field), &value, 1);
}

void think(shoal_client* client) {
    const shoal_world* world = shoal_client_world(client, SHOAL_NEWEST);
    const shoal_entity pad = shoal_client_player(client);
    const component pos(world, "pos"), vel(world, "vel"), size(world, "rectSize"),
        owner(world, "owner");
    const auto left = pos.read(pad, "x");
    if (!left) return;
    const double middle = *left + size.read(pad, "x").value_or(0.0) / 2.0;
    double wanted = middle, nearest = pad_top;
    bool is_holding = false;
    for (shoal_entity ball = owner.next(0); ball != 0; ball = owner.next(ball)) {
        if (owner.read(ball, "is_held").value_or(0.0) != 0.0) {
            is_holding |= owner.read(ball, "pad") == static_cast<double>(pad);
            continue;
        }
        const double down = vel.read(ball, "y").value_or(0.0),
                     y = pos.read(ball, "y").value_or(0.0);
        if (down <= 1.0 || pad_top - y >= nearest) continue;
        nearest = pad_top - y;
        wanted = landing_x(pos.read(ball, "x").value_or(0.0), y, vel.read(ball, "x").value_or(0.0),
                           down);
    }
    set_input(client, "move", std::clamp((wanted - middle) * 4.0, -127.0, 127.0));
    set_input(client, "is_launching",
              is_holding && shoal_client_tick(client) % 32 == 31 ? 1.0 : 0.0);
}

// What an engine draws: here the places of the shown balls are added up.
double draw(shoal_client* client) {
    if (shoal_client_frame(client) == 0) return 0.0;
    const component pos(shoal_client_world(client, SHOAL_SHOWN), "pos");
    double sum = 0.0;
    for (shoal_entity entity = pos.next(0); entity != 0; entity = pos.next(entity))
        sum += pos.read(entity, "x").value_or(0.0);
    return sum;
}

void report(void* /*context*/, const char* text) {
    std::fprintf(stderr, "pilot: %s\n", text);
}

void print_end(shoal_client* client, uint64_t frames, const std::map<std::string, int>& events) {
    static const char* const ends[] = {"none",        "goodbye", "left",  "lost",
                                       "unreachable", "refused", "failed"};
    const component player(shoal_client_world(client, SHOAL_NEWEST), "player");
    std::string names;
    for (const auto& [name, count] : events)
        names += (names.empty() ? "" : ",") + name + ":" + std::to_string(count);
    std::printf("client id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32
                " game=%s mirror_hash=%016" PRIx64 " score=%.0f frames=%" PRIu64
                " events=%s end=%s\n",
                shoal_client_number(client), shoal_client_tick(client),
                shoal_world_entity_count(shoal_client_world(client, SHOAL_NEWEST)),
                shoal_client_game(client), shoal_client_hash(client),
                player.read(shoal_client_player(client), "score").value_or(0.0), frames,
                names.c_str(), ends[shoal_client_end(client)]);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: pilot HOST:PORT [TICKS] [NETWORK]\n");
        return 2;
    }
    const uint64_t ticks_max = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    shoal_client_options options = {};
    options.size_bytes = sizeof options;
    options.address = argv[1];
    options.name = "Cpp";
    options.network = argc > 3 ? argv[3] : nullptr;
    options.flags = SHOAL_BOT | SHOAL_SHOW | SHOAL_PREDICT;
    options.report = report;
    const client_ptr owned(shoal_client_create(&options));
    shoal_client* client = owned.get();

    uint64_t ticks = 0, newest = 0, frames = 0;
    std::map<std::string, int> events;
    double checksum = 0.0;
    while (shoal_client_service(client, 4) != SHOAL_ENDED) {
        if (shoal_client_tick(client) == newest) continue;
        newest = shoal_client_tick(client);
        think(client);
        const double drawn = draw(client);
        frames += drawn != 0.0;
        checksum += drawn;
        while (const uint32_t event = shoal_client_next_event(client))
            events[shoal_client_message_name(client, event)]++;
        if (++ticks == 60) shoal_client_send(client, shoal_client_message(client, "Cheer"));
        if (ticks == ticks_max) shoal_client_leave(client);
    }
    if (ticks == 0) return 6;
    print_end(client, frames, events);
    return checksum > 0.0 ? 0 : 1;
}
