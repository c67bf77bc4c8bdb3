# ENet as PkgConfig::ENET: the system's, or built from SHOAL_ENET_SOURCE.
#
# Our socket layer defines functions of ENet again, so that every datagram goes through it. A libenet that is linked with
# -Bsymbolic-functions, as Ubuntu does, never calls it.
if(SHOAL_ENET_SOURCE)
    set(enet ${SHOAL_ENET_SOURCE})
    if(NOT EXISTS ${enet}/protocol.c)
        message(FATAL_ERROR "SHOAL_ENET_SOURCE has no protocol.c: ${enet}")
    endif()
    add_library(shoal_enet STATIC ${enet}/callbacks.c ${enet}/compress.c ${enet}/host.c ${enet}/list.c ${enet}/packet.c
                ${enet}/peer.c ${enet}/protocol.c ${enet}/unix.c)
    target_include_directories(shoal_enet SYSTEM PUBLIC $<BUILD_INTERFACE:${enet}/include>)
    target_compile_options(shoal_enet PRIVATE -w)
    # What ENet's own build asks of the system; without it, ENet declares these types and functions itself.
    target_compile_definitions(shoal_enet PRIVATE _DEFAULT_SOURCE HAS_POLL HAS_FCNTL HAS_INET_PTON HAS_INET_NTOP
        HAS_MSGHDR_FLAGS HAS_SOCKLEN_T HAS_GETADDRINFO HAS_GETNAMEINFO)
    # The functions of our socket layer: ENet's get other names.
    foreach(name socket_send socket_receive socket_create socket_destroy socket_bind socket_get_address
            socket_set_option time_get time_set host_random_seed)
        set_property(SOURCE ${enet}/unix.c APPEND PROPERTY COMPILE_DEFINITIONS enet_${name}=enet_unix_${name})
    endforeach()
    add_library(PkgConfig::ENET ALIAS shoal_enet)
    set_target_properties(shoal_enet PROPERTIES EXPORT_NAME enet)
    set(ENET_FOUND TRUE)
    return()
endif()

pkg_check_modules(ENET IMPORTED_TARGET libenet)
if(NOT ENET_FOUND OR CMAKE_CROSSCOMPILING OR DEFINED SHOAL_ENET_SERVES)
    return()
endif()
file(WRITE ${PROJECT_BINARY_DIR}/enet_probe.c "
#include <enet/enet.h>
#include <stdlib.h>
ENetSocket enet_socket_create(ENetSocketType type) { (void)type; exit(0); }
int main(void) { ENetAddress any = {0, 0}; return enet_host_create(&any, 1, 1, 0, 0) ? 1 : 2; }
")
try_run(enet_answer enet_is_built ${PROJECT_BINARY_DIR}/enet_probe ${PROJECT_BINARY_DIR}/enet_probe.c
        LINK_LIBRARIES PkgConfig::ENET)
if(enet_is_built AND NOT enet_answer EQUAL 0)
    message(FATAL_ERROR "This system's libenet calls its own socket functions, never ours (Ubuntu links it so). Build it "
        "from its sources: apt source enet, then cmake -DSHOAL_ENET_SOURCE=FOLDER; scripts/build does both")
endif()
set(SHOAL_ENET_SERVES TRUE CACHE INTERNAL "libenet calls the functions of our socket layer")
