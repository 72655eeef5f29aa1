// The inside of the live panel.
#include <imgui.h>
#include <algorithm>
#include <filesystem>

#include "tracer/utf8.h"
#include "viewer/form.h"
#include "viewer/live_model.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

struct CacheChoice {
    const char* name;
    std::vector<std::string> caches;
};
const CacheChoice cache_choices[] = {{"all three", {"none", "contiguous", "paged"}},
                                     {"none", {"none"}},
                                     {"contiguous", {"contiguous"}},
                                     {"paged", {"paged"}}};

using Speed = LiveModel::Speed;

struct SpeedChoice {
    Speed speed;
    const char* name;
    const char* meaning;
};
constexpr SpeedChoice speed_choices[] = {
    {Speed::with_picture, "at the speed of the picture",
     "The next step is computed when this one has been played; the transport sets the speed."},
    {Speed::run_on, "as fast as it can", "Nothing waits."},
    {Speed::step, "pause after each step",
     "A step is one pass of each decoder: the prompt, a chunk of it, or one new token."},
    {Speed::token, "pause after each token", "Chunks of the prompt do not pause."},
    {Speed::layer, "pause after each layer",
     "The cache grid shows the layers that are done; reads and costs come with the last one."},
};

const SpeedChoice& choice(Speed speed) {
    return speed_choices[static_cast<std::size_t>(speed)];
}

}  // namespace

void LiveModel::draw(Viewer& viewer) {
    ImGui::BeginDisabled(running());
    term("prompt");
    edit_lines("##prompt", options.prompt, ImGui::GetFontSize() * 5.4f);
    draw_options();
    ImGui::EndDisabled();
    draw_controls();
    if (!run_) {
        ImGui::PushTextWrapPos(0);
        ImGui::TextDisabled(
            "Start runs the model on this prompt. What it writes and reads appears in the other "
            "panels, and on a tape.");
        ImGui::PopTextWrapPos();
        return;
    }
    draw_layers(viewer);
    draw_state(viewer);
    draw_text();
}

void LiveModel::draw_options() {
    const CacheChoice& chosen = *std::find_if(
        std::begin(cache_choices), std::end(cache_choices) - 1,
        [this](const CacheChoice& offered) { return offered.caches == options.caches; });
    const std::string folder =
        std::filesystem::path(options.model).lexically_normal().filename().string();
    const std::string summary =
        folder + ", " + chosen.name + ", " + name(options.dtype) + "###options";
    if (fold_options_) ImGui::SetNextItemOpen(false);
    fold_options_ = false;
    if (!ImGui::CollapsingHeader(summary.c_str(), ImGuiTreeNodeFlags_DefaultOpen)) return;

    const FormLines lines;
    lines.wide("model", "A folder with config.json, model.safetensors and tokenizer.json.");
    edit_line("##model", options.model);

    lines.wide("cache", "One decoder, or the three of them side by side.", 0.5f);
    if (ImGui::BeginCombo("##cache", chosen.name)) {
        for (const CacheChoice& offered : cache_choices) {
            if (ImGui::Selectable(offered.name, &offered == &chosen)) {
                options.caches = offered.caches;
            }
        }
        ImGui::EndCombo();
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(to_the_edge);
    if (ImGui::BeginCombo("##dtype", name(options.dtype))) {
        for (const KvDtype dtype : all_kv_dtypes) {
            if (ImGui::Selectable(name(dtype), dtype == options.dtype)) options.dtype = dtype;
        }
        ImGui::EndCombo();
    }
    hint("Number format of the cached rows.");
    lines.left("block size", "Positions per block of the paged cache.");
    ImGui::InputScalar("##block", ImGuiDataType_S64, &options.block_size);
    lines.right("chunk", "Tokens of the prompt per pass; 0 takes the whole prompt in one.");
    ImGui::InputScalar("##chunk", ImGuiDataType_S64, &options.prefill_chunk);
    lines.left("temperature", "0 picks the likeliest token; higher is more random.");
    ImGui::InputDouble("##temperature", &options.sampling.temperature, 0, 0, "%g");
    lines.right("seed", "Of the random numbers for a temperature above 0.");
    ImGui::InputScalar("##seed", ImGuiDataType_U64, &options.sampling.seed);
    lines.left("max tokens", "New tokens at most; 0 goes on until the model ends the text.");
    ImGui::InputScalar("##tokens", ImGuiDataType_S64, &max_tokens_);
    lines.right("tape",
                "The file that records the run. One that exists is left as it is: the run "
                "then takes the next free name, such as live-2.tape.");
    edit_line("##tape", options.tape);
}

void LiveModel::draw_controls() {
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    const float width = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
    const auto button = [&](const char* label, bool enabled, const char* meaning) {
        ImGui::BeginDisabled(!enabled);
        const bool pressed = ImGui::Button(label, {width, 0});
        ImGui::EndDisabled();
        hint(meaning);
        return pressed;
    };
    const bool can_steer = running() && !stopping_;
    if (button("Start", !running(), "Loads the model and begins to decode.")) start();
    ImGui::SameLine();
    if (paused()) {
        if (button("Continue##pause", can_steer, "Up to the next pause.")) go_on();
    } else {
        if (button("Pause##pause", can_steer, "Before the next layer.")) pause();
    }
    ImGui::SameLine();
    if (button("Stop", can_steer, "Ends the run; its tape keeps what is done.")) stop();

    ImGui::SetNextItemWidth(to_the_edge);
    if (ImGui::BeginCombo("##speed", choice(speed_).name)) {
        for (const SpeedChoice& offered : speed_choices) {
            if (ImGui::Selectable(offered.name, offered.speed == speed_)) set_speed(offered.speed);
            hint(offered.meaning);
        }
        ImGui::EndCombo();
    }
    hint(choice(speed_).meaning);
}

// A box per layer and lane: how far the step has come that is being computed.
void LiveModel::draw_layers(const Viewer& viewer) {
    if (!header_ || !running()) return;
    const Palette& palette = viewer.palette();
    const PaceGate::Progress& now = status_.progress;
    const auto layers = static_cast<std::int32_t>(header_->shape.layers);
    float label_width = 0;
    for (const Lane& lane : header_->lanes) {
        label_width = std::max(label_width, ImGui::CalcTextSize(lane.name.c_str()).x);
    }
    label_width += ImGui::GetFontSize() * 0.8f;
    for (std::int32_t i = 0; i < std::ssize(header_->lanes); ++i) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float box =
            (ImGui::GetContentRegionAvail().x - label_width) / static_cast<float>(layers);
        const float height = ImGui::GetTextLineHeight();
        const float inset = std::min(box * 0.1f, 1.5f * viewer.scale);
        ImGui::TextUnformatted(header_->lanes[static_cast<std::size_t>(i)].name.c_str());
        const std::int32_t done = i < now.lane || (i == now.lane && !now.in_pass) ? layers
                                  : i > now.lane                                  ? 0
                                                                                  : now.layers_done;
        for (std::int32_t layer = 0; layer < layers; ++layer) {
            const bool computing = i == now.lane && now.in_pass && layer == done;
            const Rgba colour = layer < done ? palette.accent
                                : computing  ? palette.written_now
                                             : palette.empty;
            const float x = at.x + label_width + box * static_cast<float>(layer);
            ImGui::GetWindowDrawList()->AddRectFilled({x + inset, at.y + height * 0.15f},
                                                      {x + box - inset, at.y + height * 0.85f},
                                                      colour, 2 * viewer.scale);
        }
    }
}

// What the run does, in a line.
std::string LiveModel::doing() const {
    if (stopping_) return "Stopping";
    const PaceGate::Progress& now = status_.progress;
    if (!header_ || (status_.steps == 0 && !now.in_pass)) return "Loading the model";
    const std::int64_t lanes = std::ssize(header_->lanes);
    const std::string& lane = header_->lanes[static_cast<std::size_t>(now.lane)].name;
    const std::int64_t step = (status_.steps - (now.in_pass ? 0 : 1)) / lanes;
    const std::string done = now.in_pass
                                 ? ", " + std::to_string(now.layers_done) + " of " +
                                       std::to_string(header_->shape.layers) + " layers done"
                                 : " is done";
    return (paused() ? "Paused in step " : "In step ") + with_commas(step) + ": " + lane + done;
}

void LiveModel::draw_state(const Viewer& viewer) {
    ImGui::PushTextWrapPos(0);
    if (running()) {
        ImGui::TextUnformatted(doing().c_str());
        if (waits_for_picture_ && !viewer.playhead.playing) {
            ImGui::TextDisabled("The run waits for the picture: press End, or play on.");
        }
    } else if (status_.failed) {
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(viewer.palette().warning), "%s",
                           status_.end.c_str());
    } else {
        ImGui::Text("Ended: %s", status_.end.c_str());
    }
    if (!status_.tape.empty()) {
        std::string tape = with_commas(status_.steps) + " steps on " + status_.tape;
        if (status_.tape != wanted_tape_) tape += "; " + wanted_tape_ + " existed already";
        ImGui::TextDisabled("%s", tape.c_str());
    }
    if (running() && header_ && !on_show(viewer)) {
        ImGui::TextDisabled("Another tape is on show; the run goes on.");
    }
    ImGui::PopTextWrapPos();
}

void LiveModel::draw_text() {
    if (status_.text.empty()) return;
    ImGui::BeginChild("text", {0, 0}, true);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(printable(status_.text).c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1);
    ImGui::EndChild();
}

}  // namespace kvtape
