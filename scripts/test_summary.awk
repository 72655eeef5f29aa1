# Reads the JUnit file that ctest writes and prints the end of a test run: one line for each reason
# that tests were skipped for, then the counts. A reason is what the test itself said to GTEST_SKIP.

function attribute(name) {
    return match($0, name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3) : ""
}

function plain(text) {
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

/<testcase / {
    status = attribute("status")
    reason = status == "disabled" ? "disabled in the source" : "it gave no reason"
    reason_follows = 0
}
reason_follows {
    if ($0 != "") {
        reason = plain($0)
    }
    reason_follows = 0
}
/: Skipped$/ { reason_follows = 1 }

# "notrun" also covers a test whose program could not be started; ctest counts that one as failed.
/SKIP_REGULAR_EXPRESSION_MATCHED|SKIP_RETURN_CODE/ { status = "skipped" }
/<\/testcase>/ {
    if (status == "run") {
        passed++
    } else if (status == "skipped" || status == "disabled") {
        skipped++
        tests_for[reason]++
    } else {
        failed++
    }
}

END {
    for (reason in tests_for) {
        printf "skipped: %d test%s: %s\n", tests_for[reason], tests_for[reason] == 1 ? "" : "s", reason
    }
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
