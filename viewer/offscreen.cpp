#include "viewer/offscreen.h"

#define GL_GLEXT_PROTOTYPES
#include <backends/imgui_impl_opengl3.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui.h>
#include <algorithm>

#include "core/check.h"
#include "viewer/opengl.h"
#include "viewer/style.h"

namespace kvtape {
namespace {

// A context with no surface at all; what is drawn goes into a framebuffer object.
class EglContext {
  public:
    EglContext() {
        display_ =
            eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
        if (display_ == EGL_NO_DISPLAY || !eglInitialize(display_, nullptr, nullptr)) {
            refuse("eglInitialize");
        }
        if (!eglBindAPI(EGL_OPENGL_API)) refuse("eglBindAPI");
        const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                 EGL_OPENGL_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint count = 0;
        if (!eglChooseConfig(display_, wanted, &config, 1, &count) || count == 0) {
            config = EGL_NO_CONFIG_KHR;
        }
        const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                                  3,
                                  EGL_CONTEXT_MINOR_VERSION,
                                  3,
                                  EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                  EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                  EGL_NONE};
        context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, version);
        if (context_ == EGL_NO_CONTEXT) refuse("eglCreateContext");
        if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) {
            refuse("eglMakeCurrent");
        }
    }
    ~EglContext() {
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
        eglTerminate(display_);
    }
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

  private:
    [[noreturn]] static void refuse(const char* call) {
        fail("no OpenGL 3.3 without a window: ", call, " failed with EGL error ", eglGetError(),
             "; install Mesa's drivers (Debian: libegl1, libgl1-mesa-dri)");
    }

    EGLDisplay display_ = EGL_NO_DISPLAY;
    EGLContext context_ = EGL_NO_CONTEXT;
};

class Framebuffer {
  public:
    Framebuffer(int width, int height) {
        GLint largest = 0;
        glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
        if (width < 1 || height < 1 || width > largest || height > largest) {
            fail("a picture of ", width, "x", height,
                 " cannot be drawn; each side must be from 1 to ", largest);
        }
        glGenRenderbuffers(1, &colour_);
        glBindRenderbuffer(GL_RENDERBUFFER, colour_);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
        glGenFramebuffers(1, &framebuffer_);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
    }
    ~Framebuffer() {
        glDeleteFramebuffers(1, &framebuffer_);
        glDeleteRenderbuffers(1, &colour_);
    }
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

  private:
    GLuint colour_ = 0, framebuffer_ = 0;
};

class ImGuiSession {
  public:
    ImGuiSession(int width, int height, float scale, bool dark) {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;  // a picture depends on nobody's earlier session
        io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
        io.DeltaTime = 1.0f / 60;
        load_font(*io.Fonts, scale);
        apply_style(dark ? dark_palette : light_palette, scale);
        ImGui_ImplOpenGL3_Init("#version 330 core");
    }
    ~ImGuiSession() {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui::DestroyContext();
    }
    ImGuiSession(const ImGuiSession&) = delete;
    ImGuiSession& operator=(const ImGuiSession&) = delete;
};

}  // namespace

// In the order in which they are made; unmade the other way round.
struct Offscreen::Parts {
    Parts(int width, int height, float scale, bool dark)
        : framebuffer(width, height), session(width, height, scale, dark), viewer(textures) {
        viewer.scale = scale;
        viewer.dark = dark;
        picture.width = width;
        picture.height = height;
        picture.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    }

    EglContext context;
    Framebuffer framebuffer;
    ImGuiSession session;
    OpenGlTextures textures;
    Viewer viewer;
    Screenshot picture;
};

Offscreen::Offscreen(int width, int height, float scale, bool dark)
    : parts_(std::make_unique<Parts>(width, height, scale, dark)) {}
Offscreen::~Offscreen() = default;

Viewer& Offscreen::viewer() {
    return parts_->viewer;
}

const Screenshot& Offscreen::draw() {
    Screenshot& picture = parts_->picture;
    // Windows and tables find their sizes in the first frames in which they appear.
    constexpr int frames_to_settle = 3;
    for (int i = 0; i < frames_to_settle; ++i) {
        ImGui_ImplOpenGL3_NewFrame();
        ImGui::NewFrame();
        parts_->viewer.frame(0);
        ImGui::Render();
    }
    draw_with_opengl(picture.width, picture.height, parts_->viewer.palette().background);
    glReadPixels(0, 0, picture.width, picture.height, GL_RGBA, GL_UNSIGNED_BYTE,
                 picture.pixels.data());
    // OpenGL's first row is the lowest.
    for (int y = 0; y < picture.height / 2; ++y) {
        const auto upper = picture.pixels.begin() + std::ptrdiff_t{y} * picture.width;
        const auto lower =
            picture.pixels.begin() + std::ptrdiff_t{picture.height - 1 - y} * picture.width;
        std::swap_ranges(upper, upper + picture.width, lower);
    }
    for (Rgba& pixel : picture.pixels) pixel |= 0xff000000u;
    return picture;
}

}  // namespace kvtape
