#include "reference_cpu/forward.h"

#include "reference_cpu/counting_tracer.h"
#include "reference_cpu/forward_body.h"

namespace kvtape {

template PassResult<float> forward(const Model<float>&, const std::vector<Span>&, KvCache&,
                                   NullTracer&, Team&);
template PassResult<float> forward(const Model<float>&, const std::vector<Span>&, KvCache&,
                                   Recorder&, Team&);
template PassResult<Counted> forward(const Model<Counted>&, const std::vector<Span>&, KvCache&,
                                     CountingTracer&, Team&);

}  // namespace kvtape
