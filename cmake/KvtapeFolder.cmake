# One folder of the repository is one target, and the target enforces the arrows of the house:
# a file may write `#include "core/..."` only if its target depends on `core`.
#
# How: every folder gets an include root of its own under the build tree that holds one link, the
# folder itself. Depending on a folder's target adds that root, and nothing else does.

# kvtape_folder(NAME SOURCES file... [DEPENDS folder...] [LINK library...])
function(kvtape_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  set(include_root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${include_root}/${name} SYMBOLIC)

  add_library(kvtape_${name} STATIC ${arg_SOURCES})
  target_include_directories(kvtape_${name} PUBLIC ${include_root})
  target_link_libraries(kvtape_${name} PUBLIC kvtape_flags ${arg_LINK})
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(kvtape_${name} PUBLIC kvtape_${dependency})
  endforeach()
endfunction()
