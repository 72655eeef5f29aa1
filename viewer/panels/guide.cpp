// What the guide (viewer/guide.h) says, and the buttons and keys that turn its pages.
#include "viewer/guide.h"

#include <imgui.h>
#include <string>

#include "viewer/imgui_compat.h"
#include "viewer/panel.h"
#include "viewer/rich_text.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

std::string lesson_label(const LessonScript& lesson) {
    return std::to_string(lesson.number) + "  " + lesson.title;
}

void draw_choice(Viewer& viewer) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted("Which lesson?");
    ImGui::PopTextWrapPos();
    for (const LessonScript* lesson : all_lessons()) {
        if (ImGui::Selectable(lesson_label(*lesson).c_str())) {
            return start_lesson(viewer, lesson->number);
        }
    }
}

// Where to look: the name of the panel that has the frame, and its colour.
void draw_pointer(const Viewer& viewer, const GuidePage& page) {
    for (const Panel& panel : all_panels()) {
        if (page.panel != panel.name) continue;
        const float em = ImGui::GetFontSize();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::GetWindowDrawList()->AddRect({at.x, at.y + em * 0.2f},
                                            {at.x + em * 1.1f, at.y + em * 0.95f},
                                            viewer.palette().pointer, 2, 0, 2 * viewer.scale);
        ImGui::Dummy({em * 1.1f, em});
        ImGui::SameLine();
        ImGui::TextDisabled("look at: %s", panel.title);
    }
}

void forward(Viewer& viewer) {
    const Guide& guide = *viewer.guide;
    if (guide.page_number() < guide.pages()) {
        viewer.guide->turn_to(viewer, guide.page_number() + 1);
    } else if (guide.lesson().number < std::ssize(all_lessons())) {
        start_lesson(viewer, guide.lesson().number + 1);
    } else {
        viewer.visible["guide"] = false;
    }
}

void back(Viewer& viewer) {
    const int page = viewer.guide->page_number();
    if (page > 1) viewer.guide->turn_to(viewer, page - 1);
}

// May replace the guide by that of the next lesson, so it comes last.
void draw_buttons(Viewer& viewer) {
    const Guide& guide = *viewer.guide;
    const ImGuiStyle& style = ImGui::GetStyle();
    const int page = guide.page_number();
    const bool plays = guide.page().move && guide.page().move->steps_per_second > 0;
    const int number = guide.lesson().number;
    const std::string next = page < guide.pages()                 ? "Next"
                             : number < std::ssize(all_lessons()) ? say("Lesson ", number + 1)
                                                                  : "Close";
    bool forwards = false, backwards = false, again = false;
    ImGui::BeginDisabled(page <= 1);
    backwards = ImGui::Button("Back");
    ImGui::EndDisabled();
    hint("The page before (backspace)");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextDisabled("%d of %d", page, guide.pages());
    if (plays) {
        ImGui::SameLine();
        again = ImGui::Button("Again");
        hint("Play the steps of this page once more");
    }
    const float width = ImGui::CalcTextSize(next.c_str()).x + 2 * style.FramePadding.x;
    same_line_at_right(width);
    forwards = ImGui::Button(next.c_str());
    hint("On (enter)");
    if (!ImGui::GetIO().WantTextInput) {
        forwards = forwards || key_pressed(ImGuiKey_Enter, false);
        backwards = backwards || key_pressed(ImGuiKey_Backspace, false);
    }
    if (again) viewer.guide->turn_to(viewer, page);
    if (backwards) return back(viewer);
    if (forwards) forward(viewer);
}

}  // namespace

void draw_guide(Viewer& viewer) {
    if (!viewer.guide) return draw_choice(viewer);
    const GuidePage& page = viewer.guide->page();
    const float buttons = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("page", {0, -buttons});
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(viewer.palette().accent), "%s",
                       page.title.c_str());
    rich_text(page.text);
    draw_pointer(viewer, page);
    ImGui::EndChild();
    draw_buttons(viewer);
}

void draw_guide_menu(Viewer& viewer) {
    for (const LessonScript* lesson : all_lessons()) {
        const bool open = viewer.guide && &viewer.guide->lesson() == lesson;
        if (ImGui::MenuItem(lesson_label(*lesson).c_str(), nullptr, open)) {
            start_lesson(viewer, lesson->number);
        }
    }
}

}  // namespace kvtape
