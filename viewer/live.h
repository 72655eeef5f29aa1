// Live mode as the viewer sees it. What runs the model stands in viewer/live_model.h, the only part
// that needs the decoder; playing a tape does without.
#pragma once

#include <functional>
#include <memory>

namespace kvtape {

class Viewer;

class Live {
  public:
    virtual ~Live() = default;

    // Called before each frame: puts the steps that are finished on show. Never waits.
    virtual void feed(Viewer& viewer) = 0;
    // The inside of the live panel.
    virtual void draw(Viewer& viewer) = 0;
};

// Empty in a viewer that cannot run a model.
using MakeLive = std::function<std::unique_ptr<Live>()>;

}  // namespace kvtape
