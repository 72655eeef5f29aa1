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

// Draws a texture whose texels keep their colour up to their edges. Our textures ask for that, but
// since 1.92.8 the back end overrules them unless it is told so.
inline void add_texels(ImDrawList& draw, std::uint64_t texture, ImVec2 from, ImVec2 to,
                       ImVec2 uv_from, ImVec2 uv_to) {
#if IMGUI_VERSION_NUM >= 19280
    const ImGuiPlatformIO& io = ImGui::GetPlatformIO();
    if (io.DrawCallback_SetSamplerNearest) draw.AddCallback(io.DrawCallback_SetSamplerNearest);
#endif
    draw.AddImage(imgui_texture(texture), from, to, uv_from, uv_to);
#if IMGUI_VERSION_NUM >= 19280
    if (io.DrawCallback_SetSamplerLinear) draw.AddCallback(io.DrawCallback_SetSamplerLinear);
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
