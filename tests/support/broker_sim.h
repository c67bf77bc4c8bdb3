// SPDX-License-Identifier: MIT
/// A broker of one stream in virtual time, with the faults of a real one.
///
/// What it keeps is the truth that tests compare with. A request travels, is served in one moment,
/// and its answer travels; each may be late or lost. Equal seeds and calls give equal runs.
#pragma once

#include "net/stream.h"

#define BROKER_SIM_USERS_MAX 8u

typedef struct broker_sim broker_sim;

/// Chances are per mille.
typedef struct broker_sim_faults {
    uint32_t request_lost, answer_lost;
    uint32_t answer_late;   ///< comes late_us later: behind a time-out and younger answers
    uint32_t request_twice; ///< served again, later
    uint32_t message_lost;  ///< of a read: not delivered
    uint32_t message_twice;
    uint32_t unready;                    ///< answered with NET_BROKER_UNREADY
    uint32_t delay_us_min, delay_us_max; ///< of each way
    uint64_t late_us;
} broker_sim_faults;

broker_sim* broker_sim_create(uint64_t seed);
void broker_sim_destroy(broker_sim* sim);
void broker_sim_set_faults(broker_sim* sim, const broker_sim_faults* faults);
/// Serve all that is due. Time does not go back.
void broker_sim_run(broker_sim* sim, uint64_t now_us);
/// Another user, connected. The broker lives as long as the simulation.
net_broker broker_sim_connect(broker_sim* sim);
/// Of one user alone, each way, besides the faults' delay.
void broker_sim_set_distance(broker_sim* sim, uint32_t user, uint64_t us);
/// Cut off one user (0: the first that connected) until a time: answers are lost, its read ends.
void broker_sim_cut(broker_sim* sim, uint32_t user, uint64_t until_us);
/// Answer nothing until a time; what came meanwhile is served then.
void broker_sim_stall(broker_sim* sim, uint64_t until_us);
/// Die, and come back with all that was stored; ids are forgotten.
void broker_sim_restart(broker_sim* sim, uint64_t until_us);
/// No room for more messages than this; UINT64_MAX: for all.
void broker_sim_set_room(broker_sim* sim, uint64_t messages_max);
/// A message that finds no room gets a number all the same, as of NATS 2.9 with an account's limit.
void broker_sim_set_counts_refused(broker_sim* sim);
void broker_sim_set_payload_max(broker_sim* sim, uint32_t bytes);
/// Forget ids of messages older than this (a real one: 2 minutes).
void broker_sim_set_id_us(broker_sim* sim, uint64_t id_us);
/// Drop messages behind `count`, as a broker whose disk lost them.
void broker_sim_forget(broker_sim* sim, uint64_t count);
/// Messages up to `sequence` are too old, and not given any more.
void broker_sim_expire(broker_sim* sim, uint64_t sequence);
/// That were begun.
uint64_t broker_sim_reads(const broker_sim* sim);
uint64_t broker_sim_count(const broker_sim* sim);
/// The oldest message that it gives.
uint64_t broker_sim_first(const broker_sim* sim);
/// Message `sequence`, from 1.
const uint8_t* broker_sim_message(const broker_sim* sim, uint64_t sequence, size_t* size);
