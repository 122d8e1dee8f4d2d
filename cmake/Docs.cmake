# Docs.cmake - the reference of the dialect and the passes, from where they are declared.
#
# Target `docs` writes build/docs: a page for each ir/*.td that declares ops or
# attributes, and one for each room of passes.

set(DOCS_FOLDER ${CMAKE_BINARY_DIR}/docs)

function(cleave_reference_page td page generator)
  get_filename_component(folder ${td} DIRECTORY)
  add_custom_command(OUTPUT ${DOCS_FOLDER}/${page}
    COMMAND ${MLIR_TABLEGEN_EXE} ${generator} -I ${CMAKE_SOURCE_DIR} -I ${folder} -I ${MLIR_INCLUDE_DIRS}
      ${td} -o ${DOCS_FOLDER}/${page}
    DEPENDS ${td}
    COMMENT "Writing docs/${page}")
  set_property(GLOBAL APPEND PROPERTY CLEAVE_REFERENCE_PAGES ${DOCS_FOLDER}/${page})
endfunction()

foreach(family Elementwise Contraction Reduction Movement Composite State Distribution Program)
  string(TOLOWER ${family} page)
  cleave_reference_page(${CMAKE_SOURCE_DIR}/ir/${family}.td dialect/${page}.md -gen-op-doc)
endforeach()
cleave_reference_page(${CMAKE_SOURCE_DIR}/ir/Attributes.td dialect/attributes.md -gen-attrdef-doc)
cleave_reference_page(${CMAKE_SOURCE_DIR}/ir/Interfaces.td dialect/interfaces.md -gen-op-interface-docs)

file(GLOB PASS_ROOMS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/passes ${CMAKE_SOURCE_DIR}/passes/*/Passes.td)
foreach(td ${PASS_ROOMS})
  get_filename_component(room ${td} DIRECTORY)
  cleave_reference_page(${CMAKE_SOURCE_DIR}/passes/${td} passes/${room}.md -gen-pass-doc)
endforeach()

get_property(PAGES GLOBAL PROPERTY CLEAVE_REFERENCE_PAGES)
add_custom_target(docs DEPENDS ${PAGES})
