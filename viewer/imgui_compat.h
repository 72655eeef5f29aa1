// The few things that Dear ImGui 1.86 (Debian 12) and later releases spell differently. Everything
// else in viewer/ is written in what both understand.
#pragma once

#include <imgui.h>
#include <cstdint>

namespace kvtape {

// A texture as ImGui's drawing functions want it: a pointer before 1.91.4, an integer since.
inline ImTextureID imgui_texture(std::uint64_t texture) {
#if IMGUI_VERSION_NUM < 19140
    return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture));
#else
    return static_cast<ImTextureID>(texture);
#endif
}

inline bool key_pressed(ImGuiKey key, bool repeat = true) {
#if IMGUI_VERSION_NUM < 18700
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), repeat);
#else
    return ImGui::IsKeyPressed(key, repeat);
#endif
}

}  // namespace kvtape
