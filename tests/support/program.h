// Runs the built program as a user would, and gives it folders to work in.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvtape {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
}

// A folder that is gone when the test is over.
class TestFolder {
  public:
    TestFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "kvtape_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
        path_ = name;
    }
    ~TestFolder() { std::filesystem::remove_all(path_); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

struct ProgramResult {
    int exit_code = -1;
    std::string out;  // standard output
    std::string err;  // standard error

    nlohmann::json json() const { return nlohmann::json::parse(out); }
    // Lines of standard error.
    long error_lines() const { return std::count(err.begin(), err.end(), '\n'); }
};

// A program in the folder `where`, which gets the files "out" and "err". `out_path`: another place
// for standard output, such as /dev/full.
inline ProgramResult run_program(const std::string& program,
                                 const std::vector<std::string>& arguments,
                                 const std::filesystem::path& where,
                                 const std::string& out_path = "") {
    const std::string out = out_path.empty() ? (where / "out").string() : out_path;
    const std::string err = (where / "err").string();
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for the test");
    if (child == 0) {
        const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out_file, STDOUT_FILENO);
        dup2(err_file, STDERR_FILENO);
        if (chdir(where.c_str()) != 0) _exit(126);
        std::vector<char*> argv;
        argv.push_back(const_cast<char*>(program.c_str()));
        for (const std::string& argument : arguments) {
            argv.push_back(const_cast<char*>(argument.c_str()));
        }
        argv.push_back(nullptr);
        execv(program.c_str(), argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ProgramResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    if (out_path.empty()) result.out = read_file(out);
    result.err = read_file(err);
    return result;
}

inline ProgramResult run_kvtape(const std::vector<std::string>& arguments,
                                const std::filesystem::path& where,
                                const std::string& out_path = "") {
    return run_program(KVTAPE_BINARY_DIR "/cli/kvtape", arguments, where, out_path);
}

}  // namespace kvtape
