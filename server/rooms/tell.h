// SPDX-License-Identifier: MIT
/// What a match tells its host, a datagram of JSON to the host's socket: {"match":ID,"at_us":"N",
/// "address":"ADDR:PORT","http":"ADDR:PORT","players":["N",...]}. At once when it takes players,
/// then each second; no host that is away is waited for. SERVER_TELL_VARIABLE has "ID SOCKET".
#pragma once

#define SERVER_TELL_VARIABLE "SHOAL_HOST"
#define SERVER_TELL_BYTES_MAX (1u << 17)
