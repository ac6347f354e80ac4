// An adjudication: what each analyst gave, metric by metric, and the adjudicator's own values and note.
//
// One thing goes to Python: `did`, with `what` (draft, save, mean, again, skip, back, undo), the id under which this answer is shown,
// and what is typed by then. Python sends the same id as long as the same adjudication goes on; what is typed in this
// tab then stays as it is.

class Verdict extends Values {
  constructor(root) {
    super(root);
    this.note = make("textarea", {
      rows: "2",
      maxlength: LONGEST_NOTE,
      "aria-label": "Note",
      oninput: () => this.changed(),
    });
    this.grid = make("div", { class: "grid" });
    this.buttons = make("div", { class: "buttons" });
    this.message = make("div", { class: "message", role: "status" });
    this.thread = make("ol", { class: "thread", "aria-label": "Sent back" });
    root.replaceChildren(this.grid, this.thread, make("div", { class: "foot" }, this.note, make("div", {}, this.buttons, this.message)), this.aloud);
  }

  show(component) {
    const shown = this.data?.id;
    this.data = component.data;
    this.send = component.setTriggerValue;
    if (shown !== this.data.id) {
      this.begin(this.data.draft);
      this.say(this.data.message);
      if (shown) this.announce("The next answer is on screen.");
      this.note.blur();
      // The link that led here keeps the focus, and would take the first Enter.
      if (!shown) document.activeElement?.blur();
    }
    this.draw();
  }

  draw() {
    const { analysts, metrics, can, bound } = this.data;
    this.note.placeholder = TOUCHED ? "Why" : `Why (${bound.note}); Esc leaves it`;
    const heads = analysts.map(({ name, about }) => make("th", { scope: "col" }, make("span", { dir: "auto" }, name), make("small", {}, about)));
    const head = make("tr", {}, make("td"), ...heads, make("th", { scope: "col" }, "Adjudicated"));
    const notes = analysts.map(({ note }) => make("td", { class: "note", dir: "auto" }, note || "-"));
    const foot = make("tr", {}, make("th", { scope: "row" }, "note"), ...notes, make("td", { class: "note" }, "below"));
    const rows = metrics.flatMap((metric, n) => [this.metric(metric, n), ...this.panels.flatMap((panel) => panel.rows(metric.metric))]);
    fill(this.grid, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows, foot)));
    fill(this.thread, ...this.data.thread.map((line) => make("li", { dir: "auto" }, line)));
    fill(
      this.buttons,
      this.saveButton(),
      ...(can.mean ? [this.button("The mean", bound.accept, () => this.act("mean"), !this.waiting)] : []),
      this.button("Look again", bound.last, () => this.sendBack(), can.again && !this.waiting),
      this.button("Back", bound.back, () => this.act("back"), can.back),
      this.button("Next", bound.skip, () => this.act("skip"), can.skip),
      this.button("Undo", bound.undo, () => this.act("undo"), can.undo),
      this.keySwitch(),
    );
  }

  metric({ metric, name, question, lines, given, differs }, n) {
    const theirs = given.map(({ tone, value, words }) =>
      make("td", { class: `given ${tone}` }, make("b", {}, value), make("span", {}, words)),
    );
    const classes = `${differs ? "differs" : "same"}${n === this.current ? " current" : ""}`;
    return make(
      "tr",
      { class: classes, "data-metric": metric, "aria-current": n === this.current ? "true" : null },
      make("th", { scope: "row", title: question || null }, name, make("small", {}, differs ? "differs" : "same")),
      ...theirs,
      make("td", {}, make("div", { class: "choices" }, ...lines.map((line) => this.choice(n, line, this.hint(metric, line))))),
    );
  }

  // Heard at the choice that a panel suggests, and seen as its dashed line.
  hint(metric, { key }) {
    return key === this.adviser(metric)?.suggested(metric) ? make("small", { class: "unseen" }, "suggested") : null;
  }

  keys() {
    const { can, bound } = this.data;
    return {
      ...super.keys(),
      ...(can.mean ? { [bound.accept]: () => this.act("mean") } : {}),
      [bound.last]: () => this.sendBack(),
      ArrowUp: () => this.focusMetric(this.current - 1),
      ArrowDown: () => this.focusMetric(this.current + 1),
    };
  }

  // The note is the word with which the answer goes back to its analysts.
  sendBack() {
    if (this.note.value.trim()) return this.act("again");
    this.note.focus();
    this.say("What should they look at? Write it, then press Esc and the key once more.");
  }

  // What the analysts agree on is filled in: one goes on to the next that is open.
  choose(n, key) {
    super.choose(n, key);
    const open = this.typed.indexOf(".", n + 1);
    if (open > n) this.focusMetric(open);
  }

  tellDraft() {
    this.tellAct("draft");
  }

  tellAct(what) {
    this.send("did", { what, ...this.typing() });
  }

  unanswered() {
    this.draw();
  }
}

export default function (component) {
  return mount(component, (root) => new Verdict(root.querySelector(".verdict")));
}
