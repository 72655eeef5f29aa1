#include "cli/tape_file.h"

#include <exception>

#include "core/check.h"

namespace kvtape {

void add_tape_options(CLI::App& verb, TapeOptions& options) {
    verb.add_option("--tape", options.path,
                    "record every access and FLOP in FILE, which ends in .tape or .jsonl")
        ->type_name("FILE");
    verb.add_flag("--overwrite", options.overwrite, "replace output files that exist");
}

TapeFile::TapeFile(const TapeOptions& options, const TapeHeader& header) {
    if (options.path) {
        writer_.emplace(*options.path, header, options.overwrite ? Overwrite::yes : Overwrite::no);
    }
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

}  // namespace kvtape
