# Resources.cmake - collect what compiled programs are linked to and carry along.
#
# usage: cmake -D FOLDER=DIR -D RUNTIME=FILE -D MPI=FILE -D CUDA=FILE -D API=FILE -D HEADER=FILE
#              -D MAIN=FILE -D LAUNCH=FILE -D COMPILER=FILE -P Resources.cmake
# Makes FOLDER/lib (what OUT/lib becomes: the runtime and all that it needs but the
# C library and MPI), FOLDER/include (the C interface), FOLDER/link (start-up objects
# and the C library, read only when linking), FOLDER/launch, and FOLDER/digests: a
# line 'SHA256 NAME' for each of the files that OUT gets a copy of.
cmake_policy(SET CMP0057 NEW)

file(MAKE_DIRECTORY ${FOLDER}/include ${FOLDER}/lib ${FOLDER}/link)

# Every system has the C library; which MPI there is, only the system knows.
set(system "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|mvec)\\.so" "^libmpi\\.so" "^libcleave_")
file(GET_RUNTIME_DEPENDENCIES
  LIBRARIES ${RUNTIME} ${MPI}
  RESOLVED_DEPENDENCIES_VAR needed
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES ${system}
  POST_EXCLUDE_REGEXES ".*/ld-linux[^/]*")
if(missing)
  message(FATAL_ERROR "libraries that the runtime needs are not found: ${missing}")
endif()

# Copies a file under its own or another name when it has changed.
function(place from to)
  get_filename_component(real ${from} REALPATH)
  execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${real} ${to}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(digests "")

# The same for a file that OUT gets a copy of.
function(place_copied from name)
  place(${from} ${FOLDER}/${name})
  file(SHA256 ${FOLDER}/${name} digest)
  set(digests "${digests}${digest} ${name}\n" PARENT_SCOPE)
endfunction()

foreach(library ${RUNTIME} ${MPI} ${CUDA} ${API} ${needed})
  get_filename_component(name ${library} NAME)
  place_copied(${library} lib/${name})
endforeach()

foreach(name Scrt1.o crti.o crtn.o libc.so.6 libm.so.6)
  execute_process(COMMAND ${COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  place(${path} ${FOLDER}/link/${name})
endforeach()
place(${MAIN} ${FOLDER}/link/libcleave_rank_main.a)
place_copied(${LAUNCH} launch)
place_copied(${HEADER} include/cleave.h)
file(WRITE ${FOLDER}/digests "${digests}")
