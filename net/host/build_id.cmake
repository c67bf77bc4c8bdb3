# Run at every build: writes FILE, a header with the commit of the sources, only when its content changes. No
# time and no path, so that two builds of one commit are the same bytes.
#
#     cmake -DSOURCE=FOLDER -DVERSION=0.1.0 -DFILE=build_id.h -P build_id.cmake
#
#     shoal-0.1.0-g1234567890ab         the commit; no tag v0.1.0 is behind it
#     shoal-0.1.0-12-g1234567890ab      12 commits after the tag v0.1.0; 0: the release itself
#     shoal-0.1.0-g1234567890ab-dirty   files differ from the commit
#     shoal-0.1.0-no-commit             not built in a git checkout of its own, nor of a tarball of scripts/release
set(commit "")
find_program(GIT git)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-cdup
                    OUTPUT_VARIABLE up OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code ERROR_QUIET)
    # An unpacked archive may lie inside a checkout of something else.
    if(code EQUAL 0 AND up STREQUAL "")
        # Tags of other versions do not count: the next version begins before its tag. Tags without a message do.
        execute_process(COMMAND ${GIT} -C ${SOURCE} describe --tags --always --long --dirty --abbrev=12
                                --match v${VERSION}
                        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
# scripts/release writes down what git says here.
if(commit STREQUAL "" AND EXISTS ${SOURCE}/.commit)
    file(STRINGS ${SOURCE}/.commit commit REGEX "^[v0-9a-f.-]+(-[0-9]+-g[0-9a-f]+)?$" LIMIT_COUNT 1)
endif()
if(commit STREQUAL "")
    set(id "shoal-${VERSION}-no-commit")
elseif(commit MATCHES "^v(.*)$")
    set(id "shoal-${CMAKE_MATCH_1}")
else()
    set(id "shoal-${VERSION}-g${commit}")
endif()
# The header of a log keeps 63 bytes.
string(SUBSTRING "${id}" 0 63 id)
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define SHOAL_BUILD_ID \"${id}\"\n")
