// Textures in OpenGL, shared by the window and by pictures without one.
#pragma once

#include "viewer/textures.h"

namespace kvtape {

class OpenGlTextures : public Textures {
  public:
    std::uint64_t create() override;
    void upload(std::uint64_t texture, std::int64_t width, std::int64_t height,
                std::span<const Rgba> pixels) override;
    std::int64_t largest_side() const override;
};

// Clears the current framebuffer and draws what ImGui made in the frame.
void draw_with_opengl(int width, int height, Rgba background);

}  // namespace kvtape
