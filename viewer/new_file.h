// A file that bears its name only once it is complete. Until then it is written beside it, and what
// the name stood for stays as it is: a full disk or a mistake costs nobody an older picture.
#pragma once

#include <string>

namespace kvtape {

class NewFile {
  public:
    // Throws Error if no file can be made there.
    explicit NewFile(const std::string& path);
    // Nothing is left of a file that was not finished.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    // Where to write. A device or a pipe has nothing beside it: that is `path` itself.
    const std::string& unfinished() const { return unfinished_; }
    // Throws Error if the file cannot have its name.
    void finish();

  private:
    std::string path_, unfinished_;
};

// Throws Error unless all of `bytes` are in the file.
void write_new_file(const std::string& path, const std::string& bytes);

}  // namespace kvtape
