// Dear ImGui without a window and without a picture: frames are built and thrown away.
#pragma once

#include <imgui.h>

#include "viewer/style.h"

namespace kvtape {

class NullImGui {
  public:
    NullImGui() {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DeltaTime = 1.0f / 60;
        io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM < 18700
        for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
#endif
        load_font(*io.Fonts, 1);
        unsigned char* pixels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
        apply_style(dark_palette, 1);
        resize(1280, 720);
    }
    ~NullImGui() {
        ImGui::DestroyContext();
    }
    NullImGui(const NullImGui&) = delete;
    NullImGui& operator=(const NullImGui&) = delete;

    static void resize(float width, float height) {
        ImGui::GetIO().DisplaySize = {width, height};
    }

    // Down or up, for the next frame.
    static void set_key(ImGuiKey key, bool down) {
#if IMGUI_VERSION_NUM < 18700
        ImGui::GetIO().KeysDown[key] = down;
#else
        ImGui::GetIO().AddKeyEvent(key, down);
#endif
    }
    static void set_mouse(float x, float y, bool down, float wheel) {
        ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18700
        io.MousePos = {x, y};
        io.MouseDown[0] = down;
        io.MouseWheel = wheel;
#else
        io.AddMousePosEvent(x, y);
        io.AddMouseButtonEvent(0, down);
        io.AddMouseWheelEvent(0, wheel);
#endif
    }
};

}  // namespace kvtape
