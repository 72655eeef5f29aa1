# Flags that every target shares, and why.
#
#   -ffp-contract=off   a multiply-add is fused only where the source says so, so that every compiler
#                       and every build type computes the same bits (design: "same bits").
#   KVTAPE_ISA          which vector instructions are used. Wider vectors change the speed, never a
#                       bit: no sum is ever split over vector lanes in a way that depends on the width.

set(KVTAPE_ISA "auto" CACHE STRING "Vector instructions: auto, avx2 or avx512")
set_property(CACHE KVTAPE_ISA PROPERTY STRINGS auto avx2 avx512)
option(KVTAPE_WERROR "Treat warnings as errors (CI does)" OFF)
option(KVTAPE_FUZZ "Build the fuzz targets (clang only)" OFF)
set(KVTAPE_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(FATAL_ERROR "kvtape supports x86-64 CPUs with AVX2 and FMA; this is "
                      "'${CMAKE_SYSTEM_PROCESSOR}'. See 'Supported machines' in README.md.")
endif()

set(isa ${KVTAPE_ISA})
if(isa STREQUAL "auto")
  set(isa avx2)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
    if(cpu_flags MATCHES " avx512f " AND cpu_flags MATCHES " avx512dq ")
      set(isa avx512)
    endif()
  endif()
endif()
if(isa STREQUAL "avx2")
  set(isa_flags -mavx2 -mfma)
elseif(isa STREQUAL "avx512")
  set(isa_flags -mavx2 -mfma -mavx512f -mavx512dq)
else()
  message(FATAL_ERROR "KVTAPE_ISA is '${KVTAPE_ISA}'; use auto, avx2 or avx512")
endif()
message(STATUS "kvtape: vector instructions ${isa}")

add_library(kvtape_flags INTERFACE)
set(options ${isa_flags} -ffp-contract=off
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about "text" + std::string inside its own library, without reason (GCC bug 105651).
  list(APPEND options -Wno-restrict)
endif()
set(link_options "")
if(KVTAPE_WERROR)
  list(APPEND options -Werror)
endif()
if(KVTAPE_SANITIZE)
  list(APPEND options -fsanitize=${KVTAPE_SANITIZE} -fno-omit-frame-pointer
       -fno-sanitize-recover=all)
  list(APPEND link_options -fsanitize=${KVTAPE_SANITIZE})
endif()
if(KVTAPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "KVTAPE_FUZZ needs clang++, for its libFuzzer: set CXX=clang++")
  endif()
  # The fuzzer steers by the branches that its input reached, so everything tells it of them.
  list(APPEND options -fsanitize=fuzzer-no-link)
  list(APPEND link_options -fsanitize=fuzzer-no-link)
endif()
# nvcc, where there is one, does not know these options.
target_compile_options(kvtape_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
target_link_options(kvtape_flags INTERFACE ${link_options})
target_compile_definitions(kvtape_flags INTERFACE KVTAPE_ISA_NAME="${isa}")
