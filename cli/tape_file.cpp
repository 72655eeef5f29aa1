#include "cli/tape_file.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>

#include "core/check.h"
#include "tracer/tape_writer.h"

namespace kvtape {

void add_tape_options(CLI::App& verb, TapeOptions& options) {
    CLI::Option* const path =
        verb.add_option("--tape", options.path,
                        "record every access and FLOP in FILE, which ends in .tape or .jsonl")
            ->type_name("FILE");
    verb.add_flag("--tape-values", options.values,
                  "record the numbers of every stored row of K and V, too")
        ->needs(path);
    verb.add_flag("--overwrite", options.overwrite, "replace output files that exist");
}

bool replaces_a_file(const TapeOptions& options) {
    return options.path && options.overwrite && std::filesystem::exists(*options.path);
}

TapeFile::TapeFile(const TapeOptions& options, const TapeHeader& header) {
    if (!options.path) return;
    writer_ = std::make_unique<TapeWriter>(*options.path, header,
                                           options.overwrite ? Overwrite::yes : Overwrite::no);
}

TapeFile::~TapeFile() = default;

void TapeFile::write(const Step& step) {
    if (writer_) writer_->write(step);
}

void TapeFile::record(const std::function<void()>& body) {
    try {
        body();
    } catch (const std::exception& error) {
        try {
            if (writer_) writer_->close(error.what());
        } catch (const Error&) {
            // The tape itself cannot be written; the first error says so.
        }
        throw;
    }
    if (writer_) writer_->close();
}

std::int64_t TapeFile::bytes_written() const {
    return writer_ ? writer_->bytes_written() : 0;
}

std::int64_t TapeFile::steps_written() const {
    return writer_ ? writer_->steps_written() : 0;
}

}  // namespace kvtape
