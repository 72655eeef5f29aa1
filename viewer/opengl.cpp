#include "viewer/opengl.h"

#define GL_GLEXT_PROTOTYPES
#include <backends/imgui_impl_opengl3.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui.h>

namespace kvtape {

std::uint64_t OpenGlTextures::create() {
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    // Cells have edges.
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

void OpenGlTextures::upload(std::uint64_t texture, std::int64_t width, std::int64_t height,
                            std::span<const Rgba> pixels) {
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(texture));
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(width),
                 static_cast<GLsizei>(height), 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
}

std::int64_t OpenGlTextures::largest_side() const {
    GLint side = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
    return side;
}

void draw_with_opengl(int width, int height, Rgba background) {
    glViewport(0, 0, width, height);
    const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(background);
    glClearColor(colour.x, colour.y, colour.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace kvtape
