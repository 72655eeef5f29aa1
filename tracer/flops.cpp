#include "tracer/flops.h"

namespace kvtape {

const char* name(Component component) {
    switch (component) {
        case Component::projections:
            return "projections";
        case Component::mlp:
            return "mlp";
        case Component::attention:
            return "attention";
        case Component::head:
            return "head";
        case Component::softmax:
            return "softmax";
        case Component::norm:
            return "norm";
        case Component::rope:
            return "rope";
        case Component::activation:
            return "activation";
        case Component::residual:
            return "residual";
    }
    return "unknown";
}

}  // namespace kvtape
