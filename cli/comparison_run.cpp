#include "cli/comparison_run.h"

namespace kvtape {

ComparisonRun run_comparison(const LoadedModel& loaded, const Request& request, LengthLimit limit,
                             const CacheOptions& cache_options, int threads,
                             const TapeOptions& tape_options, const ComparisonWatch& watch) {
    const ModelShape& shape = loaded.model.config.shape;
    limit = cache_length_limit(cache_options, shape, limit, compared_caches);
    std::vector<std::unique_ptr<KvCache>> caches;
    TapeHeader header{loaded.name, shape, limit.tokens, {}};
    for (const std::string& kind : compared_caches) {
        caches.push_back(make_cache(kind, cache_options, shape, limit, request));
        header.lanes.push_back(caches.back()->lane());
    }

    Team team(threads);
    if (replaces_a_file(tape_options)) admit(request, limit);
    TapeFile tape(tape_options, header);
    ComparisonRun run;
    run.prompt_tokens = std::ssize(request.prompt);
    const auto listen = [&](const Step& step) {
        tape.write(step);
        for (const SpanRecord& span : step.spans) run.logit_rows += span.logit_rows;
        for (const WriteRun& written : step.writes) run.kv_rows += written.rows();
        if (watch.step) watch.step(step);
    };
    tape.record([&] {
        admit(request, limit);
        if (watch.begins) watch.begins();
        run.comparison = compare(
            loaded.model, caches, team, request, limit,
            [&](std::int32_t id) { return loaded.bytes_of(id); }, listen, tape_options.values);
        const Generation& made = run.comparison.decoders.front().generation;
        const bool equal = run.comparison.verdict == Verdict::equal_bits;
        if (equal && made.finish_reason == FinishReason::failed) fail(made.finish_detail);
    });
    run.tape_steps = tape.steps_written();
    run.tape_bytes = tape.bytes_written();
    return run;
}

}  // namespace kvtape
