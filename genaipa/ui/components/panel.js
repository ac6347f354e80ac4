// What packages show beside an answer (`ui/panel.py`), on the pad and in the adjudication: a package's script puts its class under the
// name of its entry point, `PANELS.name = class extends Panel { … }`. All text goes in as text: `make` and `fill` are in elements.js.

const PANELS = {};

class Panel {
  // `data` is what `show` gave in Python, `draft` what is kept of the answer so far, `desk` the pad or the adjudication. A panel calls its
  // `change(text)` when something was done, with what is read aloud of that, its `takeLetters(count)` for keys that do nothing else,
  // `say(text)`, and on the pad `leadTo(section)`. Where `desk.waiting`, nothing can be done.
  constructor(data, draft, desk) {
    Object.assign(this, { data, draft, desk });
  }

  // The panel's name for whoever hears the page.
  get title() {
    return "";
  }

  // Nodes beneath the answer on the pad; they are made anew when `kept` is another.
  draw() {
    return [];
  }

  // Rows beneath a metric (by its id) of the adjudication's table.
  rows() {
    return [];
  }

  // Fields of the draft that goes to Python, for `keep` there.
  kept() {
    return {};
  }

  // Key → what it does.
  keys() {
    return {};
  }

  // The keys, and what is said of them in the list of keys.
  help() {
    return null;
  }

  // The key of the value that is suggested for a metric (by its id), which Enter takes, and why that one.
  suggested() {
    return undefined;
  }

  reason() {
    return "";
  }

  // What is said, once, before keys of values (by the metrics' ids) are saved.
  warning() {
    return "";
  }
}
