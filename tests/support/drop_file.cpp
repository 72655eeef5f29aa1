#include "support/drop_file.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace kvtape {
namespace {

class FileDrop {
  public:
    explicit FileDrop(const std::string& display)
        : display_(XOpenDisplay(display.c_str()), &XCloseDisplay) {}

    bool drop(const std::string& path, const std::string& title) {
        if (!display_) return false;
        Display* const display = display_.get();
        const Window root = DefaultRootWindow(display);
        target_ = find(root, title);
        if (target_ == 0) return false;
        data_ = "file://" + path + "\r\n";
        source_ = XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, 0, 0);
        XSetSelectionOwner(display, atom("XdndSelection"), source_, CurrentTime);

        XWindowAttributes size{};
        XGetWindowAttributes(display, target_, &size);
        Window child = 0;
        int x = 0, y = 0;
        XTranslateCoordinates(display, target_, root, size.width / 2, size.height / 2, &x, &y,
                              &child);
        constexpr long version = 5;
        send("XdndEnter", version << 24, static_cast<long>(atom("text/uri-list")), 0, 0);
        send("XdndPosition", 0, x << 16 | y, CurrentTime,
             static_cast<long>(atom("XdndActionCopy")));
        if (!answer("XdndStatus")) return false;
        send("XdndDrop", 0, CurrentTime, 0, 0);
        return answer("XdndFinished");
    }

  private:
    Atom atom(const char* name) { return XInternAtom(display_.get(), name, False); }

    Window find(Window window, const std::string& title) {
        char* name = nullptr;
        const bool found = XFetchName(display_.get(), window, &name) != 0 &&
                           std::strstr(name, title.c_str()) != nullptr;
        if (name != nullptr) XFree(name);
        if (found) return window;
        Window root = 0, parent = 0, *children = nullptr, match = 0;
        unsigned count = 0;
        if (XQueryTree(display_.get(), window, &root, &parent, &children, &count) == 0) return 0;
        for (unsigned i = 0; i < count && match == 0; ++i) match = find(children[i], title);
        if (children != nullptr) XFree(children);
        return match;
    }

    void send(const char* type, long a, long b, long c, long d) {
        XEvent event{};
        event.xclient.type = ClientMessage;
        event.xclient.window = target_;
        event.xclient.message_type = atom(type);
        event.xclient.format = 32;
        const long words[] = {static_cast<long>(source_), a, b, c, d};
        std::memcpy(event.xclient.data.l, words, sizeof words);
        XSendEvent(display_.get(), target_, False, NoEventMask, &event);
        XFlush(display_.get());
    }

    // Waits for a message of this type and hands out the data on the way.
    bool answer(const char* type) {
        for (int i = 0; i < 500; ++i) {
            while (XPending(display_.get()) > 0) {
                XEvent event{};
                XNextEvent(display_.get(), &event);
                if (event.type == SelectionRequest) hand_out(event.xselectionrequest);
                if (event.type == ClientMessage && event.xclient.message_type == atom(type)) {
                    return true;
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    }

    void hand_out(const XSelectionRequestEvent& request) {
        XChangeProperty(display_.get(), request.requestor, request.property, request.target, 8,
                        PropModeReplace, reinterpret_cast<const unsigned char*>(data_.data()),
                        static_cast<int>(data_.size()));
        XEvent event{};
        event.xselection.type = SelectionNotify;
        event.xselection.requestor = request.requestor;
        event.xselection.selection = request.selection;
        event.xselection.target = request.target;
        event.xselection.property = request.property;
        event.xselection.time = request.time;
        XSendEvent(display_.get(), request.requestor, False, NoEventMask, &event);
        XFlush(display_.get());
    }

    std::unique_ptr<Display, int (*)(Display*)> display_;
    Window target_ = 0, source_ = 0;
    std::string data_;
};

}  // namespace

bool drop_file(const std::string& display, const std::string& path, const std::string& title) {
    return FileDrop(display).drop(path, title);
}

}  // namespace kvtape
