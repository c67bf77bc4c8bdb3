# What `cmake --install` puts where, beside the programs (server/, client/) and games (games/*):
#
#     include/shoal/{base,ecs,proto,net}/*.h    -I include/shoal
#     lib/libshoal_{base,ecs,proto,net}.a       and lib/shoal/objects-*: the socket layer
#     lib/cmake/Shoal/                          find_package(Shoal): shoal_game(), shoal::game, shoal::net...
#     lib/pkgconfig/shoal.pc                    for building the libraries into something else
#     lib/shoal/games                           game modules; the same place under every prefix, because
#                                               programs look there relative to themselves
#     share/shoal/{wire,log}.proto              what is on the wire and in logs
set(package_folder ${CMAKE_CURRENT_LIST_DIR})
set(package_target ${CMAKE_INSTALL_LIBDIR}/cmake/Shoal)

foreach(folder ecs/base/include/base ecs/include/ecs proto/include/proto net/include/net)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/proto/wire.proto ${PROJECT_SOURCE_DIR}/proto/log.proto
        DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal)

# What a game is compiled with: headers, protobuf-c, and the flags that keep its arithmetic the same on
# every machine. No library of ours: a module takes our functions from the program that opens it.
add_library(shoal_game_interface INTERFACE)
target_compile_features(shoal_game_interface INTERFACE c_std_17)
target_compile_options(shoal_game_interface INTERFACE
    -ffp-contract=off -fno-math-errno -fno-common -fno-strict-aliasing)
target_include_directories(shoal_game_interface INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/shoal>)
target_link_libraries(shoal_game_interface INTERFACE PkgConfig::PROTOBUF_C)
set_target_properties(shoal_game_interface PROPERTIES EXPORT_NAME game)

foreach(name base ecs proto net socket)
    set_target_properties(shoal_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS shoal_base shoal_ecs shoal_proto shoal_net shoal_socket shoal_game_interface
        EXPORT ShoalTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/shoal)
install(EXPORT ShoalTargets NAMESPACE shoal:: DESTINATION ${package_target})

# All that --install needs, without tests: cmake --build FOLDER --target shoal_installed
add_custom_target(shoal_installed)
add_dependencies(shoal_installed shoal_base shoal_ecs shoal_proto shoal_net shoal_socket shoal-esgen
                 shoal-server shoal-replay shoal-client ${SHOAL_GAME_TARGETS})

configure_package_config_file(${package_folder}/ShoalConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/ShoalConfig.cmake INSTALL_DESTINATION ${package_target}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/ShoalConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/ShoalConfig.cmake
              ${PROJECT_BINARY_DIR}/package/ShoalConfigVersion.cmake
              ${package_folder}/ShoalGame.cmake ${PROJECT_SOURCE_DIR}/proto/ShoalProto.cmake
              ${PROJECT_SOURCE_DIR}/ecs/esgen/ShoalEsgen.cmake
        DESTINATION ${package_target})

# Relative to the .pc file, so that an installation may be moved.
file(RELATIVE_PATH package_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" package_prefix "${package_prefix}")
configure_file(${package_folder}/shoal.pc.in ${PROJECT_BINARY_DIR}/package/shoal.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/shoal.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
