# Cleave.cmake - how a room declares its library.

# Everything of ours is compiled with these; MLIR's headers are system headers.
add_library(cleave_options INTERFACE)
target_compile_options(cleave_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Werror -fno-semantic-interposition)

# In each executable, so that tests need no environment.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  target_sources(cleave_options INTERFACE ${CMAKE_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
endif()

# Compiler-side code: MLIR and LLVM as shared libraries only.
add_library(cleave_mlir INTERFACE)
target_include_directories(cleave_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(cleave_mlir INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:CLEAVE_EXCEPTIONS>>,-fexceptions,-fno-exceptions>)
target_link_libraries(cleave_mlir INTERFACE cleave_options MLIR LLVM)

# cleave_add_pass_room(ROOM SOURCES... [LINK libs...] [EXCEPTIONS]): the library
# CleaveROOM of a room under passes/ that declares passes in its Passes.td.
macro(cleave_add_pass_room room)
  string(TOLOWER ${room} lower)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=Cleave${room})
  add_public_tablegen_target(cleave-${lower}-passes)
  cleave_add_room(Cleave${room} ${ARGN} DEPENDS cleave-${lower}-passes)
endmacro()

# cleave_add_room(NAME SOURCES... [LINK libs...] [EXCEPTIONS]): a static library
# over MLIR. EXCEPTIONS: for rooms that call libraries which throw.
function(cleave_add_room name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC cleave_mlir ${ARG_LINK})
  set_target_properties(${name} PROPERTIES CLEAVE_EXCEPTIONS ${ARG_EXCEPTIONS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(CLEAVE_PCH)
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)
  endif()
endfunction()
