# `cpack -G DEB` in a build folder configured with -DCMAKE_INSTALL_PREFIX=/usr (scripts/package/debs does it all):
#
#     libshoal0.3      libshoal.so.0.3 and libshoal_client.so.1
#     libshoal-dev     headers, static libraries, CMake and pkg-config files, shoal-esgen, docs and examples
#     shoal-games      the modules of the three games, and their code for browsers
#     shoal-server     the program, a service of systemd, /etc/shoal/shoal.conf as a conffile
#     shoal-tools      shoal-client, shoal-replay, the bindings for Python and Lua
set(SHOAL_MAINTAINER "Shoal developers <shoal@users.noreply.github.com>" CACHE STRING "Maintainer of Debian packages")
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VENDOR Shoal)
set(CPACK_PACKAGE_CONTACT "${SHOAL_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library dev games server tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(debian ${package_folder}/debian)
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(long_text "Shoal is an entity component system with server-authoritative
replication and event logs: one server owns the world, clients have
copies of what they may see, and a log gives the whole match back,
bit for bit.
")
# shoal_package(COMPONENT PACKAGE SECTION DEPENDS RECOMMENDS "what it has")
function(shoal_package component package section depends recommends text)
    string(TOUPPER ${component} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${long_text}\n${text}" PARENT_SCOPE)
    # Every package has its copyright and its changes.
    set(doc ${CMAKE_INSTALL_DATADIR}/doc/${package})
    install(FILES ${PROJECT_BINARY_DIR}/package/copyright DESTINATION ${doc} COMPONENT ${component})
    install(FILES ${PROJECT_BINARY_DIR}/package/changelog.Debian.gz DESTINATION ${doc} COMPONENT ${component})
    set(overrides ${debian}/lintian-overrides)
    if(EXISTS ${overrides}-${component})
        set(overrides ${overrides}-${component})
    endif()
    install(FILES ${overrides} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
            COMPONENT ${component} RENAME ${package})
endfunction()
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND GZIP_PROGRAM)
    configure_file(${debian}/copyright.in ${PROJECT_BINARY_DIR}/package/copyright @ONLY)
    configure_file(${debian}/changelog.in ${PROJECT_BINARY_DIR}/package/changelog.Debian @ONLY)
    execute_process(COMMAND ${GZIP_PROGRAM} -9nf ${PROJECT_BINARY_DIR}/package/changelog.Debian)
    shoal_package(library libshoal${soversion} libs "" "shoal-games ${same}"
        "This package has libshoal, for programs that open game modules, and\nlibshoal_client, a client with a C ABI for any language.")
    shoal_package(dev libshoal-dev libdevel
        "libshoal${soversion} ${same}, libprotobuf-c-dev, libenet-dev, libzstd-dev, libsodium-dev, protobuf-c-compiler, python3:any" ""
        "This package has headers, libraries, CMake and pkg-config files, the generator\nshoal-esgen, documentation and examples.")
    shoal_package(games shoal-games games "" ""
        "This package has the modules breakout, cubes and arena, which shoal-server,\nshoal-client and shoal-replay open, and their code for the inspector's page.")
    shoal_package(server shoal-server net "" "shoal-games ${same}"
        "This package has the server, which runs one match, shoal-relay, which shows it\nto spectators, shoal-ctl, which steers both, shoal-host, which\nruns the matches of a machine, and a service of systemd.")
    shoal_package(tools shoal-tools net "libshoal${soversion} ${same}, python3:any" "shoal-games ${same}"
        "This package has the client with its window and its bots, shoal-replay, which\nruns event logs again, and the module shoal for Python and LuaJIT.")
    # By hand: CPack calls ldconfig from scripts where a trigger is asked for.
    configure_file(${debian}/shlibs.in ${PROJECT_BINARY_DIR}/package/shlibs @ONLY)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/shlibs ${debian}/triggers)
    set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "nodejs:any, npm") # lib/shoal/mcap
    set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "rclone, shoal-tools ${same}") # lib/shoal/upload
    set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${debian}/conffiles)
else()
    # Units, paths and names of packages are made when this folder is configured.
    set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package/refuse.cmake)
    file(WRITE ${CPACK_PROJECT_CONFIG_FILE} "message(FATAL_ERROR \"Packages need the prefix /usr, and this folder has \"
        \"${CMAKE_INSTALL_PREFIX}: cmake -DCMAKE_INSTALL_PREFIX=/usr FOLDER, or scripts/package/debs, which does all of it\")\n")
endif()
include(CPack)
