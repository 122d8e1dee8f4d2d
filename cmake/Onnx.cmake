# Onnx.cmake - the ONNX C++ library as the target `cleave_onnx`.
#
# Link `cleave_onnx` (LINK cleave_onnx in cleave_add_room): it brings the include
# directories, ONNX_NAMESPACE and ONNX_ML, the static library and protobuf. Its
# headers throw, so the files that include them are compiled with exceptions
# (EXCEPTIONS in cleave_add_room). cmake/setup.sh builds the library once, in .deps.

file(STRINGS ${CMAKE_SOURCE_DIR}/requirements.txt ONNX_PIN REGEX "^onnx==")
string(REPLACE "onnx==" "" ONNX_PINNED_VERSION "${ONNX_PIN}")
set(ONNX_PREFIX ${CMAKE_SOURCE_DIR}/.deps/onnx-${ONNX_PINNED_VERSION})

find_package(Protobuf REQUIRED)
find_package(ONNX ${ONNX_PINNED_VERSION} CONFIG QUIET PATHS ${ONNX_PREFIX} NO_DEFAULT_PATH)
if(NOT ONNX_FOUND)
  message(FATAL_ERROR "the ONNX ${ONNX_PINNED_VERSION} library is not in .deps: run cmake/setup.sh (or `make build`, which does)")
endif()

add_library(cleave_onnx INTERFACE)
target_link_libraries(cleave_onnx INTERFACE ONNX::onnx protobuf::libprotobuf)
