// SPDX-License-Identifier: MIT
/// What a match tells its host, a datagram of JSON to the host's socket FOLDER/reports:
/// {"match":ID,"at_us":"N","address":"ADDR:PORT","http":"ADDR:PORT","players":["N",...],
/// "open":true,"values":{KEY:VALUE,...}}. At once when it takes players, then each second, and when
/// what the game published is another; no host that is away is waited for. What it asks for goes
/// the same way (channel.h); the host answers to FOLDER/matches/ID/answers. SERVER_TELL_VARIABLE
/// has "ID FOLDER/reports".
#pragma once

#define SERVER_TELL_VARIABLE "SHOAL_HOST"
#define SERVER_TELL_BYTES_MAX (1u << 17)
