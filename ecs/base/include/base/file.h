// SPDX-License-Identifier: MIT
/// Files that a program writes where others may write too (/tmp, a shared folder): no link is
/// followed, and only the user of the process can read them (rights 0600).
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// Create the file for reading and writing. The name must be free: a link that has it, even one
/// that leads nowhere, counts as taken.
/// @return the descriptor; -1 with errno: EEXIST when the name is taken.
BASE_MUST_USE int base_file_create(const char* path);
/// Create the file, or empty the one that is there and take its rights of reading from others. A
/// device or a pipe is opened as it is.
/// @return the descriptor, for writing; -1 with errno: ELOOP when the name is a link, EPERM when
/// the file belongs to another user or has a second name. base_file_why says it in words.
BASE_MUST_USE int base_file_overwrite(const char* path);
/// Is it a regular file of the user of this process, with one name?
BASE_MUST_USE bool base_file_is_own(int descriptor);
/// Make the entry of a file in its folder survive a power cut. @return false when the folder cannot
/// be synced; some file systems never can.
BASE_MUST_USE bool base_file_sync_folder(const char* path);
#define BASE_NO_MEMORY                                                                             \
    "out of memory: raise the limit of this process (ulimit -v, MemoryMax), or free some"
/// What an errno means, of a limit also what to raise; valid until the next call of strerror.
const char* base_error_text(int error);
/// What a failure of the functions above means. `error` is errno; the text is valid until the next
/// call of strerror.
const char* base_file_why(int error);
/// Make sure that the descriptors 0, 1 and 2 are open (/dev/null where they are not): otherwise a
/// file that the program opens gets one of these numbers, and output and faults go into it. Call it
/// before anything is opened. @return false when the system refuses.
BASE_MUST_USE bool base_file_open_standard(void);

BASE_C_END
