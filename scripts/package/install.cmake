# What `cmake --install` puts where, and in which package of `cpack -G DEB` (packages.cmake):
#
#     bin/                                      shoal-server, shoal-relay, shoal-ctl, shoal-host (server); shoal-client, shoal-replay (tools); shoal-esgen (dev)
#     lib/libshoal.so.0.3, libshoal_client.so.1 (library) for hosts of modules; for clients in any language
#     include/shoal/{base,ecs,proto,net}/*.h    (dev) -I include/shoal; include/shoal_client.h stands alone
#     lib/libshoal_{base,ecs,proto,core,log...}.a (dev) and lib/shoal/objects-*: the socket layer
#     lib/cmake/Shoal/                          (dev) find_package(Shoal): shoal_game(), shoal::host, shoal::client...
#     lib/pkgconfig/shoal.pc, shoal_client.pc   (dev)
#     lib/shoal/games                           (games) modules; the same place under every prefix, because
#                                               programs look there relative to themselves
#     lib/shoal/web                             (games) NAME.wasm of each, for the inspector's page (with SHOAL_WEB)
#     share/shoal/esgen                         (dev) shoal-esgen and its parts, ShoalEsgen.cmake
#     share/shoal/python                        (tools) shoal.py; with prefix /usr where Python looks
#     share/shoal/lua                           (tools) shoal.lua; with prefix /usr where Lua looks
#     share/shoal/js                            (tools) shoal.js for pages, its types and examples
#     share/shoal/{wire,log}.proto              (dev) what is on the wire and in logs
#     share/man, share/bash-completion          of each program, with it
#     share/doc/shoal                           (dev) the READMEs and standards; examples/
#     lib/systemd/system, etc/shoal             (server) shoal@NAME, shoal-standby@NAME and shoal-relay@NAME read etc/shoal/NAME.conf
#     share/shoal/{grafana,prometheus}          (server) a dashboard and alerts for its metrics
#     lib/shoal/csv, lib/shoal/mcap             (tools) make tables and MCAP of the lines of shoal-replay export
#     lib/shoal/tiles                           (tools) makes a map of tiles of a picture
#     lib/shoal/upload                          (server) stores closed logs by rclone, for --log on-close
#     share/shoal/agones                        (server) a Fleet, its autoscaler, and a script that allocates a server
set(package_folder ${CMAKE_CURRENT_LIST_DIR})
set(package_target ${CMAKE_INSTALL_LIBDIR}/cmake/Shoal)
set(etc ${CMAKE_INSTALL_SYSCONFDIR})
set(python ${CMAKE_INSTALL_DATADIR}/shoal/python)
set(lua ${CMAKE_INSTALL_DATADIR}/shoal/lua)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(etc /etc)
    set(python lib/python3/dist-packages)
    set(lua ${CMAKE_INSTALL_DATADIR}/lua/5.1)
endif()

foreach(folder ecs/base/include/base ecs/include/ecs proto/include/proto net/include/net)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal COMPONENT dev FILES_MATCHING PATTERN "*.h"
            PATTERN "websocket.h" EXCLUDE) # shoal-server alone has it
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/client/library/include/shoal_client.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/proto/wire.proto ${PROJECT_SOURCE_DIR}/proto/log.proto
        DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/client/python/shoal.py DESTINATION ${python} COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/client/lua/shoal.lua DESTINATION ${lua} COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/client/js DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal COMPONENT tools
    PATTERN node_modules EXCLUDE PATTERN package-lock.json EXCLUDE PATTERN README.md EXCLUDE)

# What a game is compiled with: headers, protobuf-c, and the flags that keep its arithmetic the same on
# every machine. No library of ours: a module takes our functions from the program that opens it.
add_library(shoal_game_interface INTERFACE)
target_compile_features(shoal_game_interface INTERFACE c_std_17)
target_compile_options(shoal_game_interface INTERFACE
    -ffp-contract=off -fno-math-errno -fno-common -fno-strict-aliasing)
# Accesses in headers are checked in the same builds as those of the programs.
target_compile_definitions(shoal_game_interface INTERFACE $<$<BOOL:${SHOAL_VALIDATE}>:BASE_VALIDATE_ON=1>)
target_include_directories(shoal_game_interface INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/shoal>)
target_link_libraries(shoal_game_interface INTERFACE PkgConfig::PROTOBUF_C)
set_target_properties(shoal_game_interface PROPERTIES EXPORT_NAME game)

set(libraries shoal_base shoal_ecs shoal_proto ${SHOAL_NET_LIBRARIES} shoal_net shoal_socket)
list(REMOVE_ITEM libraries shoal_websocket)
foreach(library ${libraries})
    string(REPLACE "shoal_" "" name ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${libraries} shoal_game_interface
        EXPORT ShoalTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/shoal COMPONENT dev)
if(TARGET shoal_enet)
    install(TARGETS shoal_enet EXPORT ShoalTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endif()
install(TARGETS shoal_shared shoal_client_library EXPORT ShoalTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(EXPORT ShoalTargets NAMESPACE shoal:: DESTINATION ${package_target} COMPONENT dev)

configure_package_config_file(${package_folder}/ShoalConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/ShoalConfig.cmake INSTALL_DESTINATION ${package_target}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/ShoalConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/ShoalConfig.cmake
              ${PROJECT_BINARY_DIR}/package/ShoalConfigVersion.cmake
              ${package_folder}/ShoalGame.cmake ${package_folder}/ShoalGameSources.cmake
              ${PROJECT_SOURCE_DIR}/proto/ShoalProto.cmake
        DESTINATION ${package_target} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/ecs/esgen/ DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/esgen COMPONENT dev
        USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.py" PATTERN shoal-esgen PATTERN "*.cmake" PATTERN __pycache__ EXCLUDE)
file(RELATIVE_PATH to_esgen /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_DATADIR}/shoal/esgen/shoal-esgen)
file(CREATE_LINK ${to_esgen} ${PROJECT_BINARY_DIR}/package/shoal-esgen SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/package/shoal-esgen DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dev)

# Relative to the .pc file, so that an installation may be moved.
file(RELATIVE_PATH package_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" package_prefix "${package_prefix}")
foreach(name shoal shoal_client)
    configure_file(${package_folder}/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# Manual pages: each program writes its own, from its table of options. A build for another system cannot run
# them. The completion asks the program.
if(NOT CMAKE_CROSSCOMPILING)
    find_program(GZIP_PROGRAM gzip REQUIRED)
    set(manuals ${PROJECT_BINARY_DIR}/package/man)
    function(shoal_manual component program) # COMMAND...
        set(pages ${manuals}/${program}.1.gz)
        foreach(command ${ARGN})
            list(APPEND pages ${manuals}/${program}-${command}.1.gz)
        endforeach()
        list(JOIN ARGN "," commands)
        add_custom_command(OUTPUT ${pages}
            COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DCOMMANDS=${commands} -DMAN=${manuals}
                    -DGZIP=${GZIP_PROGRAM} -P ${package_folder}/manual.cmake
            DEPENDS ${program} ${package_folder}/manual.cmake COMMENT "" VERBATIM)
        add_custom_target(${program}_manual ALL DEPENDS ${pages})
        install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
        install(FILES ${package_folder}/completion.bash RENAME ${program}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
        set_property(GLOBAL APPEND PROPERTY shoal_programs ${program}_manual)
    endfunction()
    shoal_manual(server shoal-server check keygen new schema token)
    shoal_manual(server shoal-relay)
    foreach(program shoal-ctl shoal-host)
        if(TARGET ${program})
            shoal_manual(server ${program})
        endif()
    endforeach()
    shoal_manual(tools shoal-client)
    shoal_manual(tools shoal-replay)
    configure_file(${package_folder}/shoal-esgen.1 ${manuals}/shoal-esgen.1 COPYONLY)
    execute_process(COMMAND ${GZIP_PROGRAM} -9nf ${manuals}/shoal-esgen.1)
    install(FILES ${manuals}/shoal-esgen.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT dev)
endif()

# The pages of the repository keep their folders, so that links between them work.
set(pages ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${pages} COMPONENT dev)
foreach(folder ecs proto net server client games)
    file(GLOB files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
         ${PROJECT_SOURCE_DIR}/${folder}/*.md ${PROJECT_SOURCE_DIR}/${folder}/*.png
         ${PROJECT_SOURCE_DIR}/${folder}/*/*.md ${PROJECT_SOURCE_DIR}/${folder}/*/*.png)
    foreach(file ${files})
        get_filename_component(folder ${file} DIRECTORY)
        install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${pages}/${folder} COMPONENT dev)
    endforeach()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/cmake/outside/ DESTINATION ${pages}/examples/dots COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/games/tutorial DESTINATION ${pages}/examples COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/client/examples/pilot.cc DESTINATION ${pages}/examples COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/client/examples/love DESTINATION ${pages}/examples COMPONENT dev)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/client/python/bot.py DESTINATION ${pages}/examples COMPONENT dev)

# A service for each match: shoal@NAME reads etc/shoal/NAME.conf, shoal reads shoal.conf. Standbys and relays of a match
# have units of their own.
set(SHOAL_ETC ${CMAKE_INSTALL_FULL_SYSCONFDIR}/shoal)
foreach(unit shoal shoal@ shoal-standby@ shoal-relay@)
    set(SHOAL_MATCH %i)
    set(SHOAL_PROGRAM shoal-server)
    set(SHOAL_MORE " --tune tick-s=20 --tune on-term=handover")
    set(SHOAL_ROLE match)
    set(SHOAL_RESTART always)
    if(unit STREQUAL "shoal")
        set(SHOAL_MATCH shoal)
    elseif(unit MATCHES "^shoal-(standby|relay)@$")
        set(SHOAL_ROLE ${CMAKE_MATCH_1})
        set(SHOAL_RESTART on-failure)
    endif()
    if(SHOAL_ROLE STREQUAL "relay")
        set(SHOAL_PROGRAM shoal-relay)
        set(SHOAL_MORE "")
    endif()
    configure_file(${package_folder}/shoal.service.in ${PROJECT_BINARY_DIR}/package/${unit}.service @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/${unit}.service DESTINATION lib/systemd/system COMPONENT server)
endforeach()
install(FILES ${package_folder}/shoal.conf DESTINATION ${etc}/shoal COMPONENT server)
foreach(tool csv diff mcap tally tiles verify)
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/${tool} DESTINATION lib/shoal COMPONENT tools)
endforeach()
install(PROGRAMS ${package_folder}/upload DESTINATION lib/shoal COMPONENT server)
install(DIRECTORY ${package_folder}/grafana ${package_folder}/prometheus ${package_folder}/agones
        DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal COMPONENT server USE_SOURCE_PERMISSIONS PATTERN Dockerfile EXCLUDE)

# All that --install needs, without tests: cmake --build FOLDER --target shoal_installed
add_custom_target(shoal_installed)
get_property(programs GLOBAL PROPERTY shoal_programs)
add_dependencies(shoal_installed ${libraries} shoal_shared shoal_client_library shoal-client ${SHOAL_GAME_TARGETS} ${programs})

# A game may be built against this folder without an installation: -DShoal_DIR=FOLDER (`shoal-server new`).
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/ShoalConfig.cmake @ONLY CONTENT [[
# Written by CMake: find_package(Shoal) for games, from the folder that Shoal was built in.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
if(NOT TARGET shoal::game)
    add_library(shoal::game INTERFACE IMPORTED)
    target_compile_features(shoal::game INTERFACE c_std_17)
    target_compile_options(shoal::game INTERFACE -ffp-contract=off -fno-math-errno -fno-common -fno-strict-aliasing)
    target_compile_definitions(shoal::game INTERFACE $<$<BOOL:@SHOAL_VALIDATE@>:BASE_VALIDATE_ON=1>)
    target_include_directories(shoal::game INTERFACE
        "@PROJECT_SOURCE_DIR@/ecs/base/include" "@PROJECT_SOURCE_DIR@/ecs/include"
        "@PROJECT_SOURCE_DIR@/proto/include" "@PROJECT_SOURCE_DIR@/net/include")
    target_link_libraries(shoal::game INTERFACE PkgConfig::PROTOBUF_C)
endif()
set(SHOAL_GAMES_FOLDER "@PROJECT_BINARY_DIR@/lib/shoal/games")
list(APPEND CMAKE_MODULE_PATH "@PROJECT_SOURCE_DIR@/proto" "@PROJECT_SOURCE_DIR@/ecs/esgen")
include("@PROJECT_SOURCE_DIR@/scripts/package/ShoalGame.cmake")
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ShoalConfigVersion.cmake COMPATIBILITY SameMinorVersion)
