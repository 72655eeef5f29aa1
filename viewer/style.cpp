#include "viewer/style.h"

#include <imgui.h>
#include <initializer_list>

namespace kvtape {

// DejaVu Sans, put into the program by viewer/font.S.
extern "C" const unsigned char kvtape_font_begin[];
extern "C" const unsigned char kvtape_font_end[];

namespace {

constexpr float font_pixels = 15;

ImVec4 colour(Rgba rgba, float alpha = 1) {
    ImVec4 c = ImGui::ColorConvertU32ToFloat4(rgba);
    c.w *= alpha;
    return c;
}

}  // namespace

void load_font(ImFontAtlas& atlas, float scale) {
    // Latin, Greek, Cyrillic, punctuation, superscripts, arrows, mathematics, box drawing, shapes
    // and the replacement character. Others are drawn as that.
    static const ImWchar ranges[] = {0x20,   0x24f,  0x370,  0x52f,  0x2000, 0x209f, 0x2190,
                                     0x22ff, 0x2500, 0x25ff, 0xfffd, 0xfffd, 0};
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    // ImGui reads the font only, but takes a pointer to what it could change.
    auto* data = const_cast<unsigned char*>(kvtape_font_begin);
    atlas.AddFontFromMemoryTTF(data, static_cast<int>(kvtape_font_end - kvtape_font_begin),
                               font_pixels * scale, &config, ranges);
}

void apply_style(const Palette& palette, float scale) {
    ImGuiStyle style;
    style.WindowRounding = 4;
    style.ChildRounding = 3;
    style.FrameRounding = 3;
    style.GrabRounding = 3;
    style.WindowPadding = {10, 8};
    style.FramePadding = {7, 4};
    style.ItemSpacing = {8, 5};
    style.ScrollbarSize = 13;
    style.WindowBorderSize = 1;
    style.WindowMenuButtonPosition = ImGuiDir_None;
    style.ScaleAllSizes(scale);

    ImVec4* colours = style.Colors;
    colours[ImGuiCol_Text] = colour(palette.text);
    colours[ImGuiCol_TextDisabled] = colour(palette.faint_text);
    colours[ImGuiCol_WindowBg] = colour(palette.panel);
    colours[ImGuiCol_ChildBg] = colour(palette.panel, 0);
    colours[ImGuiCol_PopupBg] = colour(palette.panel, 0.98f);
    colours[ImGuiCol_MenuBarBg] = colour(palette.frame);
    colours[ImGuiCol_Border] = colour(palette.line);
    colours[ImGuiCol_FrameBg] = colour(palette.frame);
    colours[ImGuiCol_FrameBgHovered] = colour(mix(palette.frame, palette.accent, 0.3));
    colours[ImGuiCol_FrameBgActive] = colour(mix(palette.frame, palette.accent, 0.5));
    colours[ImGuiCol_TitleBg] = colour(mix(palette.panel, palette.frame, 0.6));
    colours[ImGuiCol_TitleBgActive] = colour(palette.frame);
    colours[ImGuiCol_TitleBgCollapsed] = colour(palette.frame);
    colours[ImGuiCol_ScrollbarBg] = colour(palette.panel);
    colours[ImGuiCol_ScrollbarGrab] = colour(palette.line);
    colours[ImGuiCol_ScrollbarGrabHovered] = colour(palette.faint_text);
    colours[ImGuiCol_ScrollbarGrabActive] = colour(palette.faint_text);
    colours[ImGuiCol_CheckMark] = colour(palette.accent);
    colours[ImGuiCol_SliderGrab] = colour(palette.accent);
    colours[ImGuiCol_SliderGrabActive] = colour(palette.accent);
    for (const ImGuiCol button : {ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_Tab}) {
        colours[button] = colour(mix(palette.frame, palette.line, 0.35));
    }
    for (const ImGuiCol hovered :
         {ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered}) {
        colours[hovered] = colour(mix(palette.frame, palette.accent, 0.45));
    }
    for (const ImGuiCol active : {ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}) {
        colours[active] = colour(mix(palette.frame, palette.accent, 0.65));
    }
    colours[ImGuiCol_Separator] = colour(palette.line);
    colours[ImGuiCol_ResizeGrip] = colour(palette.line, 0.5f);
    colours[ImGuiCol_ResizeGripHovered] = colour(palette.accent, 0.6f);
    colours[ImGuiCol_ResizeGripActive] = colour(palette.accent);
    colours[ImGuiCol_TableHeaderBg] = colour(palette.frame);
    colours[ImGuiCol_TableBorderStrong] = colour(palette.line);
    colours[ImGuiCol_TableBorderLight] = colour(palette.line, 0.6f);
    colours[ImGuiCol_TableRowBg] = colour(palette.panel, 0);
    colours[ImGuiCol_TableRowBgAlt] = colour(palette.frame, 0.4f);
    colours[ImGuiCol_TextSelectedBg] = colour(palette.accent, 0.35f);
    colours[ImGuiCol_PlotHistogram] = colour(palette.accent);
    colours[ImGuiCol_NavHighlight] = colour(palette.accent);
    ImGui::GetStyle() = style;
}

}  // namespace kvtape
