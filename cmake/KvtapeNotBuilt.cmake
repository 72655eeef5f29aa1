# What this machine cannot build is written down, so that `./kvtape test` can say it beside the tests
# that were skipped: one line each in not_built.txt of the build folder.
file(WRITE ${CMAKE_BINARY_DIR}/not_built.txt "")

# kvtape_not_built("WHAT: why")
function(kvtape_not_built what_and_why)
  message(STATUS "kvtape: not built: ${what_and_why}")
  file(APPEND ${CMAKE_BINARY_DIR}/not_built.txt "${what_and_why}\n")
endfunction()
