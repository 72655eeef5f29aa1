#include "tracer/step.h"

namespace kvtape {

const char* name(Phase phase) {
    return phase == Phase::prefill ? "prefill" : "decode";
}

const char* name(PoolEventKind kind) {
    switch (kind) {
        case PoolEventKind::allocate:
            return "allocate";
        case PoolEventKind::share:
            return "share";
        case PoolEventKind::copy_on_write:
            return "copy_on_write";
        case PoolEventKind::free:
            return "free";
        case PoolEventKind::free_refused:
            return "free_refused";
        case PoolEventKind::preempt:
            return "preempt";
        case PoolEventKind::swap_out:
            return "swap_out";
        case PoolEventKind::swap_in:
            return "swap_in";
        case PoolEventKind::resume:
            return "resume";
    }
    return "unknown";
}

}  // namespace kvtape
