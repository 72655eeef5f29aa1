// The lessons, told on the tape: a page of text, what it points at, a move to a step, and a wait
// for the reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvtape {

class Viewer;

class Guide {
  public:
    // The script of lesson `number`. Throws Error if there is none.
    explicit Guide(int number);

    // Shows page `page`, counted from 1, with the playhead where it wants it. Throws Error if there
    // is no such page.
    void turn_to(Viewer& viewer, int page);

    // Moves the playhead where the page on show wants it.
    void advance(Viewer& viewer, double seconds);
    void draw(Viewer& viewer);

  private:
    int number_;
};

void draw_guide_menu(Viewer& viewer);

}  // namespace kvtape
