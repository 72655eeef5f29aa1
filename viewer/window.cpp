#include "viewer/window.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
// After the others: GLFW brings the declarations of OpenGL.
#include <GLFW/glfw3.h>
#include <imgui.h>

#include "core/check.h"
#include "viewer/new_file.h"
#include "viewer/opengl.h"
#include "viewer/style.h"
#include "viewer/viewer.h"

namespace kvtape {
namespace {

constexpr const char* without_a_window =
    "; a picture needs no display: kvtape view TAPE --screenshot FILE.png";

std::string glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text != nullptr ? text : "unknown error";
}

// Where the layout is kept: in the user's folder for such things; "" if there is none.
std::string layout_file() {
    namespace fs = std::filesystem;
    const char* const config = std::getenv("XDG_CONFIG_HOME");
    const char* const home = std::getenv("HOME");
    if ((config == nullptr || *config == '\0') && (home == nullptr || *home == '\0')) return "";
    const fs::path folder =
        (config != nullptr && *config != '\0' ? fs::path(config) : fs::path(home) / ".config") /
        "kvtape";
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? "" : (folder / "viewer.layout").string();
}

Layout remembered_layout() {
    std::ifstream file(layout_file());
    std::ostringstream text;
    text << file.rdbuf();
    return read_layout(text.str());
}

void remember(const Layout& layout) {
    const std::string file = layout_file();
    if (file.empty()) return;
    try {
        write_new_file(file, layout_text(layout));
    } catch (const Error&) {
        // The window was of use without it.
    }
}

struct Glfw {
    Glfw() {
        if (glfwInit() == GLFW_FALSE)
            fail("no window can be opened: ", glfw_error(), without_a_window);
    }
    ~Glfw() { glfwTerminate(); }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

// What GLFW's callbacks reach through the window.
struct Callbacks {
    Viewer& viewer;
    std::vector<int> pressed;  // keys, since the last frame
};

Callbacks& callbacks_of(GLFWwindow* window) {
    return *static_cast<Callbacks*>(glfwGetWindowUserPointer(window));
}

void note_key(GLFWwindow* window, int key, int, int action, int modifiers) {
    if (action != GLFW_PRESS || key < 0) return;
    callbacks_of(window).pressed.push_back(key);
    if (key == GLFW_KEY_Q && (modifiers & GLFW_MOD_CONTROL) != 0) {
        glfwSetWindowShouldClose(window, GLFW_TRUE);
    }
}

// Before 1.87, ImGui knows only whether a key is down when a frame begins. One that was pressed and
// let go since the last frame counts as down in this one. Returns the keys to let go after it.
std::vector<int> hold_short_presses(Callbacks& callbacks) {
    std::vector<int> held;
#if IMGUI_VERSION_NUM < 18700
    bool* down = ImGui::GetIO().KeysDown;
    for (const int key : callbacks.pressed) {
        if (down[key]) continue;
        down[key] = true;
        held.push_back(key);
    }
#endif
    callbacks.pressed.clear();
    return held;
}

void let_go(const std::vector<int>& keys) {
#if IMGUI_VERSION_NUM < 18700
    for (const int key : keys) ImGui::GetIO().KeysDown[key] = false;
#else
    (void)keys;
#endif
}

void drop_files(GLFWwindow* window, int count, const char** paths) {
    callbacks_of(window).viewer.open_instead({paths, paths + count});
}

}  // namespace

void run_window(const StageOptions& options) {
    const Size size = parse_size(options.size);
    const Glfw glfw;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    const std::unique_ptr<GLFWwindow, void (*)(GLFWwindow*)> window(
        glfwCreateWindow(size.width, size.height, "kvtape", nullptr, nullptr), glfwDestroyWindow);
    if (!window) fail("no window with OpenGL 3.3 can be opened: ", glfw_error(), without_a_window);
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(1);

    float scale = 1;
    glfwGetWindowContentScale(window.get(), &scale, nullptr);
    if (options.scale) scale = static_cast<float>(*options.scale);

    ImGui::CreateContext();
    const std::unique_ptr<ImGuiContext, void (*)(ImGuiContext*)> context(ImGui::GetCurrentContext(),
                                                                         ImGui::DestroyContext);
    ImGui::GetIO().IniFilename = nullptr;  // what ImGui would remember are pixels
    OpenGlTextures textures;
    Viewer viewer(textures);
    viewer.scale = scale;
    const Layout layout = remembered_layout();
    viewer.moved_panels = layout.moved;
    viewer.visible = layout.visible;
    viewer.dark = layout.dark && !options.light;
    load_font(*ImGui::GetIO().Fonts, scale);
    apply_style(viewer.palette(), scale);

    Callbacks callbacks{viewer, {}};
    glfwSetWindowUserPointer(window.get(), &callbacks);
    glfwSetKeyCallback(window.get(), note_key);  // ImGui's own, set later, calls it, too
    glfwSetDropCallback(window.get(), drop_files);
    ImGui_ImplGlfw_InitForOpenGL(window.get(), true);
    ImGui_ImplOpenGL3_Init("#version 330 core");
    const std::unique_ptr<void, void (*)(void*)> backends(&viewer, [](void*) {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui_ImplGlfw_Shutdown();
    });

    bool all_open = true;
    for (const std::string& tape : options.tapes) all_open = viewer.open(tape) && all_open;
    if (options.tapes.empty() && !options.lesson) viewer.visible["live"] = true;
    try {
        set_stage(viewer, options, Time::runs);
    } catch (const Error& error) {
        if (all_open) throw;
        viewer.say(error.what());  // perhaps because of the tape that is not there
    }

    double last_time = glfwGetTime();
    while (glfwWindowShouldClose(window.get()) == GLFW_FALSE) {
        // A frame for every event; while something moves, sixty in a second; else now and then, for
        // tapes that grow.
        glfwWaitEventsTimeout(viewer.playhead.playing ? 1.0 / 60 : 0.1);
        int width = 0, height = 0;
        glfwGetFramebufferSize(window.get(), &width, &height);
        if (width == 0 || height == 0) {  // minimised: nothing to draw on
            glfwWaitEventsTimeout(0.1);
            last_time = glfwGetTime();
            continue;
        }
        const double now = glfwGetTime();
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        const std::vector<int> held = hold_short_presses(callbacks);
        ImGui::NewFrame();
        viewer.frame(now - last_time);
        last_time = now;
        let_go(held);
        ImGui::Render();
        draw_with_opengl(width, height, viewer.palette().background);
        glfwSwapBuffers(window.get());
    }
    remember(viewer.layout());
}

}  // namespace kvtape
