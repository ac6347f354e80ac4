// What an analyst did before: their last answers, to go back to any of them, and their notes, of which Tab writes one again.

const SHORTEST = 2; // letters after which an earlier note is offered

// What the keys do, in groups: those that desk.yaml can change by their names there, and the others by themselves.
const GROUPS = {
  "To score": [
    ["Enter", "saves, and shows the next answer"],
    ["Backspace", "takes the last value back"],
    ["← →", "between metrics"],
    { guidelines: "the guidelines on the current metric; press again for all guidelines" },
  ],
  "To go to an answer": [
    {
      back: "back to the answer that you scored before",
      last: "your last ten answers",
      skip: "skips the answer: it comes back at the end",
      undo: "withdraws your last score",
    },
  ],
  "To read": [
    ["Space", "a page on in the answer, then in the annotated one; with Shift back"],
    ["PageDown", "a page on in the document; PageUp back"],
    {
      search: "to the search in the document",
      highlight: "the next highlight in the document",
      pin: "pins the highlighted or selected passage for later answers to the question; press again to unpin it",
      sentence: "the next sentence of the answer",
      sentence_before: "the sentence before",
      nearest: "the nearest words in the document",
      nearest_before: "the nearest words before",
      claims: "the document's nearest sentences in the answer: off, on",
      grey: "grey for words that the previous answer also had: off, on",
    },
  ],
  "To write": [
    { note: "to the note" },
    ["Tab", "in a note, completes an earlier note"],
    ["Ctrl+Enter", "saves from within the note"],
    ["Esc", "leaves a field"],
    { wrong: "says that the annotated answer is wrong", help: "these keys" },
  ],
};

// A time as one remembers it: of today without its date.
function moment(text) {
  const time = new Date(text);
  const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return time.toDateString() === new Date().toDateString() ? clock : `${time.toLocaleDateString()} ${clock}`;
}

class Recall extends Values {
  constructor(root) {
    super(root);
    this.past = { answers: [], notes: [] };
    this.list = make("dialog", {
      class: "overlay list",
      oncancel: (event) => {
        event.preventDefault();
        this.closeList();
      },
    });
  }

  // --- lists over the page ---

  openList(title, ...content) {
    this.countTime();
    this.listed = true;
    this.countTime();
    // The focus begins at what was asked for, and never at a key of the list of keys, which Enter would press.
    const first = content.some((node) => node.matches("[autofocus]") || node.querySelector("[autofocus]"));
    const close = this.button("Close", "Esc", () => this.closeList(), true, { autofocus: !first });
    fill(this.list, make("h2", {}, title), ...content, close);
    this.list.setAttribute("aria-label", title);
    if (!this.list.open) this.list.showModal();
  }

  closeList() {
    this.countTime();
    this.listed = false;
    this.countTime();
    this.list.close();
  }

  // What the time goes to while a list is read is not the answer.
  counts() {
    return super.counts() && !this.listed;
  }

  keys() {
    const { bound } = this.data;
    if (!this.listed) {
      return { ...super.keys(), [bound.last]: () => this.lastAnswers(), [bound.help]: () => this.help() };
    }
    const rows = [...this.list.querySelectorAll(".row")];
    const step = (by) => rows[(rows.indexOf(this.root.getRootNode().activeElement) + by + rows.length) % rows.length]?.focus();
    const places = rows.slice(0, 10).map((row, n) => [String((n + 1) % 10), () => row.click()]);
    const whole = this.list.querySelector(".whole");
    const lists = whole ? { [bound.guidelines]: () => whole.click() } : { ...Object.fromEntries(places), ArrowDown: () => step(1), ArrowUp: () => step(-1) };
    return this.list.querySelector(".guidelines") && !whole ? { [bound.guidelines]: () => this.closeList() } : lists;
  }

  // --- the keys in effect ---

  helpButton() {
    if (TOUCHED) return null;
    return this.button("", this.data.bound.help, () => this.help(), true, { "aria-label": "The keys", title: "What the keys do" });
  }

  help() {
    const { bound, metrics } = this.data;
    const digits = metrics[0].lines.map(({ key }) => key).join(" ");
    const line = (head, does) => make("tr", {}, make("th", { scope: "row" }, head), make("td", {}, does));
    const fixed = ([key, does]) => [line(make("kbd", {}, key), does)];
    const changeable = (acts) => Object.entries(acts).map(([act, does]) => line(this.pressing(bound[act], does), does));
    const groups = Object.entries(GROUPS).map(([title, parts], n) => {
      const lines = parts.flatMap((part) => (Array.isArray(part) ? fixed(part) : changeable(part)));
      const ofPanels = this.panels.map((panel) => panel.help()).filter(Boolean).flatMap(fixed);
      const all = n ? lines : [...fixed([digits, "gives the current metric a value"]), ...ofPanels, ...lines];
      return make("section", {}, make("h3", {}, title), make("table", {}, make("tbody", {}, ...all)));
    });
    this.openList("Keys", make("div", { class: "groups" }, ...groups));
  }

  // Whoever has a mouse alone presses the key here.
  pressing(key, does) {
    const press = () => {
      this.closeList();
      this.keys()[key]?.({ target: document.body, shiftKey: false });
    };
    return make("button", { type: "button", "aria-label": `${key}: ${does}`, onclick: press }, make("kbd", {}, key));
  }

  // --- the last answers ---

  lastAnswers() {
    if (this.waiting) return;
    const rows = this.past.answers.map((one, n) =>
      make(
        "button",
        { type: "button", class: "row", autofocus: !n, onclick: () => this.goTo(one.answer) },
        make("kbd", {}, String((n + 1) % 10)),
        make("span", { class: "of", dir: "auto" }, one.question),
        make("span", { class: "begins", dir: "auto" }, one.begins),
        make("span", { class: "given", dir: "auto" }, [one.values, one.document, moment(one.time), one.note].filter(Boolean).join(" · ")),
      ),
    );
    this.openList("Your last answers", rows.length ? make("div", { class: "rows" }, ...rows) : make("p", {}, "You have not scored any answer yet."));
  }

  goTo(answer) {
    this.closeList();
    if (answer === this.data.answer) return;
    this.to = answer;
    this.act("go");
  }

  // --- notes ---

  // The earlier note that begins as the line that is being written at the end of this one, or has a word that does.
  completion() {
    const { value, selectionEnd } = this.note;
    const line = value.slice(value.lastIndexOf("\n") + 1).trimStart();
    if (selectionEnd !== value.length || line.length < SHORTEST) return null;
    const begun = line.toLowerCase();
    const longer = this.past.notes.filter((note) => note.length > line.length);
    const text =
      longer.find((note) => note.toLowerCase().startsWith(begun)) ??
      longer.find((note) => ` ${note.toLowerCase()}`.includes(` ${begun}`));
    return text ? { text, from: value.length - line.length } : null;
  }

  offerNote() {
    const found = this.completion();
    if (found) this.say(`Tab: ${found.text}`);
  }

  // Tab leads on, as everywhere, where there is nothing to complete.
  completeNote(event) {
    const found = event.key === "Tab" && !event.shiftKey && !event.isComposing ? this.completion() : null;
    if (!found) return;
    event.preventDefault();
    this.note.setRangeText(found.text, found.from, this.note.value.length, "end");
    this.changed();
  }
}
