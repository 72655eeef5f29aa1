// Pictures on the side of whoever draws: OpenGL, or nobody in tests.
#pragma once

#include <cstdint>
#include <span>

#include "viewer/palette.h"

namespace kvtape {

class Textures {
  public:
    virtual ~Textures() = default;

    // A texture that shows its pixels as they are, without smoothing. Never 0.
    virtual std::uint64_t create() = 0;
    // Replaces the picture. Both sizes are at most largest_side().
    virtual void upload(std::uint64_t texture, std::int64_t width, std::int64_t height,
                        std::span<const Rgba> pixels /* (height, width) */) = 0;
    virtual std::int64_t largest_side() const { return 4096; }
};

// Forgets every picture.
class NoTextures : public Textures {
  public:
    std::uint64_t create() override { return ++count_; }
    void upload(std::uint64_t, std::int64_t, std::int64_t, std::span<const Rgba>) override {}

  private:
    std::uint64_t count_ = 0;
};

}  // namespace kvtape
