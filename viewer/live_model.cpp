#include "viewer/live_model.h"

#include <imgui.h>
#include <cstdlib>
#include <filesystem>

#include "tracer/utf8.h"
#include "viewer/viewer.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// A story for the shipped model, which remembers numbers.
constexpr const char* first_prompt =
    "One day, Jack went to the farm.\n"
    "He had a white kite. Mia has 4821.\n"
    "Then the wind took the kite away.\n"
    "Who has what? Mia has";

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
    Pace pace;  // of the run
    const char* name;
    const char* meaning;
};
constexpr SpeedChoice speed_choices[] = {
    {Speed::with_picture, Pace::step, "at the speed of the picture",
     "The next step is computed when this one has been played; the transport sets the speed."},
    {Speed::run_on, Pace::run_on, "as fast as it can", "Nothing waits."},
    {Speed::step, Pace::step, "pause after each step",
     "A step is one pass of each decoder: the prompt, a chunk of it, or one new token."},
    {Speed::token, Pace::token, "pause after each token", "Chunks of the prompt do not pause."},
    {Speed::layer, Pace::layer, "pause after each layer",
     "The step is drawn when its last layer is done."},
};

const SpeedChoice& choice(Speed speed) {
    return speed_choices[static_cast<std::size_t>(speed)];
}

// Lets a std::string grow while it is edited.
int grow(ImGuiInputTextCallbackData* data) {
    auto& text = *static_cast<std::string*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
        text.resize(static_cast<std::size_t>(data->BufTextLen));
        data->Buf = text.data();
    }
    return 0;
}

void edit_line(const char* id, std::string& text) {
    ImGui::InputText(id, text.data(), text.capacity() + 1, ImGuiInputTextFlags_CallbackResize, grow,
                     &text);
}

void edit_lines(const char* id, std::string& text, float height) {
    ImGui::InputTextMultiline(id, text.data(), text.capacity() + 1, {-1, height},
                              ImGuiInputTextFlags_CallbackResize, grow, &text);
}

// Labels with their fields: one pair in a line, or two.
class Fields {
  public:
    Fields()
        : wide_label_(ImGui::CalcTextSize("model").x + ImGui::GetFontSize() * 0.6f),
          left_label_(ImGui::CalcTextSize("temperature").x + ImGui::GetFontSize() * 0.6f),
          right_label_(ImGui::CalcTextSize("chunk").x + ImGui::GetFontSize() * 0.6f),
          half_((ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2) {}

    // `share` of what is left of the line.
    void wide(const char* label, const char* meaning, float share = 1) {
        const float room = ImGui::GetContentRegionAvail().x - wide_label_;
        put(label, meaning, 0, wide_label_, share * room);
    }
    void left(const char* label, const char* meaning) {
        put(label, meaning, 0, left_label_, half_ - left_label_);
    }
    void right(const char* label, const char* meaning) {
        const float at = half_ + ImGui::GetStyle().ItemSpacing.x;
        ImGui::SameLine(ImGui::GetStyle().WindowPadding.x + at);
        put(label, meaning, at, right_label_, -1);
    }

  private:
    static void put(const char* label, const char* meaning, float at, float label_width,
                    float width) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(label);
        hint(meaning);
        ImGui::SameLine(ImGui::GetStyle().WindowPadding.x + at + label_width);
        ImGui::SetNextItemWidth(width);
    }

    float wide_label_, left_label_, right_label_, half_;
};

}  // namespace

std::string default_live_model() {
    const char* const chosen = std::getenv("KVTAPE_MODEL");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    return KVTAPE_SOURCE_DIR "/models/storyteller";
}

LiveModel::LiveModel(const std::string& model_folder) {
    options.model = model_folder;
    options.prompt = first_prompt;
}

void LiveModel::set_speed(Speed speed) {
    speed_ = speed;
    if (run_) run_->set_pace(choice(speed).pace);
}

void LiveModel::start() {
    options.caches = cache_choices[caches_].caches;
    options.max_tokens.reset();
    if (max_tokens_ != 0) options.max_tokens = max_tokens_;
    wanted_tape_ = options.tape;
    run_.reset();
    header_.reset();
    held_ = stopping_ = false;
    fold_options_ = true;
    run_ = std::make_unique<LiveRun>(options, choice(speed_).pace);
    status_ = run_->status();
}

void LiveModel::pause() {
    held_ = true;
    if (run_) run_->pause();
}

void LiveModel::go_on() {
    held_ = false;
    if (run_) run_->go_on();
}

void LiveModel::stop() {
    stopping_ = true;
    if (run_) run_->stop();
}

bool LiveModel::paused() const {
    return run_ && status_.state == LiveStatus::State::paused &&
           (held_ || speed_ != Speed::with_picture);
}

// A tape that was dropped on the window takes the place of the run, which goes on all the same.
bool LiveModel::on_show(const Viewer& viewer) const {
    return header_ && viewer.show.times_cleared() == times_cleared_;
}

void LiveModel::put_on_show(Viewer& viewer) {
    viewer.close_all();
    times_cleared_ = viewer.show.times_cleared();
    for (std::int32_t lane = 0; lane < std::ssize(header_->lanes); ++lane) {
        viewer.show.add_lane(*header_, lane);
    }
}

void LiveModel::feed(Viewer& viewer) {
    if (!run_) return;
    // In this order: all steps before a pause are there when the pause is seen, and the header is
    // when a step is.
    status_ = run_->status();
    std::vector<Step> steps = run_->take_steps();
    if (!header_ && (header_ = run_->header())) put_on_show(viewer);
    if (on_show(viewer)) {
        const std::int64_t steps_before = viewer.steps();
        for (Step& step : steps) {
            viewer.show.lanes()[static_cast<std::size_t>(step.lane)]->add(std::move(step));
        }
        follow(viewer, steps_before);
    }
    const Playhead& at = viewer.playhead;
    const bool played = at.step + 1 >= viewer.steps() && at.within >= 1 && !at.playing;
    if (status_.state == LiveStatus::State::paused && !paused() && (played || !on_show(viewer))) {
        run_->go_on();
    }
}

// The playhead goes to the newest step, unless the user has moved it back.
void LiveModel::follow(Viewer& viewer, std::int64_t steps_before) {
    const std::int64_t steps = viewer.steps();
    Playhead& playhead = viewer.playhead;
    if (steps == steps_before || playhead.step + 1 < steps_before) return;
    jump(playhead, steps - 1, steps);
    if (speed_ == Speed::run_on) return;
    playhead.within = 0;
    playhead.playing = playhead.stop_after_step = true;
}

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
    const CacheChoice& chosen = cache_choices[caches_];
    const std::string folder =
        std::filesystem::path(options.model).lexically_normal().filename().string();
    const std::string summary =
        folder + ", " + chosen.name + ", " + name(options.dtype) + "###options";
    if (fold_options_) ImGui::SetNextItemOpen(false);
    fold_options_ = false;
    if (!ImGui::CollapsingHeader(summary.c_str(), ImGuiTreeNodeFlags_DefaultOpen)) return;

    Fields fields;
    fields.wide("model", "A folder with config.json, model.safetensors and tokenizer.json.");
    edit_line("##model", options.model);

    fields.wide("cache", "One decoder, or the three of them side by side.", 0.5f);
    if (ImGui::BeginCombo("##cache", chosen.name)) {
        for (std::size_t i = 0; i < std::size(cache_choices); ++i) {
            if (ImGui::Selectable(cache_choices[i].name, i == caches_)) caches_ = i;
        }
        ImGui::EndCombo();
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("##dtype", name(options.dtype))) {
        for (const KvDtype dtype : all_kv_dtypes) {
            if (ImGui::Selectable(name(dtype), dtype == options.dtype)) options.dtype = dtype;
        }
        ImGui::EndCombo();
    }
    hint("Number format of the cached rows.");
    fields.left("block size", "Positions per block of the paged cache.");
    ImGui::InputScalar("##block", ImGuiDataType_S64, &options.block_size);
    fields.right("chunk", "Tokens of the prompt per pass; 0 takes the whole prompt in one.");
    ImGui::InputScalar("##chunk", ImGuiDataType_S64, &options.prefill_chunk);
    fields.left("temperature", "0 picks the likeliest token; higher is more random.");
    ImGui::InputDouble("##temperature", &options.sampling.temperature, 0, 0, "%g");
    fields.right("seed", "Of the random numbers for a temperature above 0.");
    ImGui::InputScalar("##seed", ImGuiDataType_U64, &options.sampling.seed);
    fields.left("max tokens", "New tokens at most; 0 goes on until the model ends the text.");
    ImGui::InputScalar("##tokens", ImGuiDataType_S64, &max_tokens_);
    fields.right("tape",
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

    ImGui::SetNextItemWidth(-1);
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
    if (stopping_) return "Stopping.";
    if (!header_) return "Loading the model.";
    const PaceGate::Progress& now = status_.progress;
    const std::int64_t lanes = std::ssize(header_->lanes);
    const std::string& lane = header_->lanes[static_cast<std::size_t>(now.lane)].name;
    const std::int64_t step = (status_.steps - (now.in_pass ? 0 : 1)) / lanes;
    const std::string done = now.in_pass
                                 ? ", " + std::to_string(now.layers_done) + " of " +
                                       std::to_string(header_->shape.layers) + " layers are done"
                                 : " is done";
    return (paused() ? "Paused in step " : "In step ") + with_commas(step) + ": " + lane + done +
           ".";
}

void LiveModel::draw_state(const Viewer& viewer) {
    ImGui::PushTextWrapPos(0);
    if (running()) {
        ImGui::TextUnformatted(doing().c_str());
    } else if (status_.failed) {
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(viewer.palette().warning), "%s",
                           status_.end.c_str());
    } else {
        ImGui::Text("Ended: %s.", status_.end.c_str());
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
    ImGui::BeginChild("text", {0, 0}, true);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(printable(status_.text).c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1);
    ImGui::EndChild();
}

}  // namespace kvtape
