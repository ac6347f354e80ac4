// An adjudication: what each analyst gave, metric by metric, and the adjudicator's own five values and note.
//
// One thing goes to Python: `did`, with `what` (draft, save, skip, back, undo), the id under which this answer is shown,
// and what is typed by then. Python sends the same id as long as the same adjudication goes on; what is typed in this
// tab then stays as it is.

const PAUSE = 400; // ms between two drafts that are sent
const SILENCE = 4000; // ms after which a decision that was not answered says so

class Verdict {
  constructor(root) {
    this.root = root;
    this.note = make("textarea", {
      rows: "2",
      placeholder: "Why (n); Esc leaves it",
      "aria-label": "Note",
      oninput: () => this.changed(),
    });
    this.grid = make("div", { class: "grid" });
    this.buttons = make("div", { class: "buttons" });
    this.message = make("div", { class: "message", role: "status" });
    root.replaceChildren(this.grid, make("div", { class: "foot" }, this.note, make("div", {}, this.buttons, this.message)));
    this.onKey = (event) => this.key(event);
    this.onVisible = () => this.countTime();
    this.onLeave = () => this.sendDraft();
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("visibilitychange", this.onVisible);
    window.addEventListener("pagehide", this.onLeave);
  }

  close() {
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("visibilitychange", this.onVisible);
    window.removeEventListener("pagehide", this.onLeave);
    clearTimeout(this.pausing);
    this.pausing = null;
    clearTimeout(this.silence);
  }

  show(component) {
    const shown = this.data?.id;
    this.data = component.data;
    this.send = component.setTriggerValue;
    if (shown !== this.data.id) {
      clearTimeout(this.pausing);
      this.pausing = null;
      clearTimeout(this.silence);
      const { draft, message } = this.data;
      this.typed = [...draft.typed];
      this.note.value = draft.note;
      this.seconds = draft.seconds;
      this.since = document.visibilityState === "visible" ? performance.now() : null;
      this.current = Math.max(0, this.typed.indexOf("."));
      this.dirty = this.waiting = false;
      this.say(message);
      this.note.blur();
      // The link that led here keeps the focus, and would take the first Enter.
      if (!shown) document.activeElement?.blur();
    }
    this.draw();
  }

  draw() {
    const { analysts, metrics, can } = this.data;
    const heads = analysts.map(({ name, about }) => make("th", { scope: "col" }, make("span", { dir: "auto" }, name), make("small", {}, about)));
    const head = make("tr", {}, make("th"), ...heads, make("th", { scope: "col" }, "Adjudicated"));
    const notes = analysts.map(({ note }) => make("td", { class: "note", dir: "auto" }, note || "-"));
    const foot = make("tr", {}, make("th", { scope: "row" }, "note"), ...notes, make("td", { class: "note" }, "below"));
    const rows = metrics.map((metric, n) => this.metric(metric, n));
    this.grid.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows, foot)));
    const button = (text, key, act, possible) => {
      const node = make("button", { type: "button", onclick: act, onmousedown: (event) => event.preventDefault() }, `${text} `, make("kbd", {}, key));
      node.disabled = !possible;
      return node;
    };
    const save = button("Save", "Enter", () => this.save(), !this.typed.includes(".") && !this.waiting);
    save.classList.add("save");
    this.buttons.replaceChildren(
      save,
      button("Back", "b", () => this.act("back"), can.back),
      button("Next", "s", () => this.act("skip"), can.skip),
      button("Undo", "u", () => this.act("undo"), can.undo),
    );
  }

  metric({ metric, lines, given, differs }, n) {
    const theirs = given.map(({ key, value, words }) =>
      make("td", { class: `given key${key}` }, make("b", {}, value), make("span", {}, words)),
    );
    const choices = lines.map(({ key, value, words }) => {
      const chosen = this.typed[n] === key;
      return make(
        "button",
        {
          type: "button",
          class: `choice key${key}${chosen ? " chosen" : ""}`,
          "aria-pressed": String(chosen),
          onmousedown: (event) => event.preventDefault(),
          onclick: () => this.choose(n, key),
        },
        make("kbd", {}, key),
        make("b", {}, value),
        make("span", {}, words),
      );
    });
    const classes = `${differs ? "differs" : "same"}${n === this.current ? " current" : ""}`;
    return make(
      "tr",
      { class: classes, "data-metric": metric },
      make("th", { scope: "row" }, metric, make("small", {}, differs ? "differs" : "same")),
      ...theirs,
      make("td", {}, make("div", { class: "choices" }, ...choices)),
    );
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.composedPath()[0];
    if (target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) {
      if (event.key === "Escape" && target === this.note) target.blur();
      return;
    }
    const acts = {
      1: () => this.choose(this.current, "1"),
      2: () => this.choose(this.current, "2"),
      3: () => this.choose(this.current, "3"),
      Backspace: () => this.takeBack(),
      ArrowUp: () => this.focusMetric(this.current - 1),
      ArrowDown: () => this.focusMetric(this.current + 1),
      b: () => this.act("back"),
      s: () => this.act("skip"),
      u: () => this.act("undo"),
      n: () => this.note.focus(),
      Enter: () => this.save(),
    };
    const key = pressed(event);
    if (!Object.hasOwn(acts, key) || (event.repeat && !key.startsWith("Arrow"))) return;
    if (key === "Enter" && takesEnter(target)) return;
    if (target instanceof Element && target.getAttribute("role") === "combobox") return;
    event.preventDefault();
    acts[key]();
  }

  choose(n, key) {
    if (n >= this.typed.length || this.waiting) return;
    this.typed[n] = key;
    this.current = n + 1;
    this.changed();
  }

  takeBack() {
    if (this.waiting) return;
    const here = this.current < this.typed.length && this.typed[this.current] !== ".";
    const n = here ? this.current : Math.min(this.current, this.typed.length) - 1;
    if (n < 0) return;
    this.typed[n] = ".";
    this.current = n;
    this.changed();
  }

  focusMetric(n) {
    this.current = Math.min(Math.max(n, 0), this.typed.length - 1);
    this.draw();
  }

  countTime() {
    const now = performance.now();
    if (this.since !== null) this.seconds += (now - this.since) / 1000;
    this.since = document.visibilityState === "visible" ? now : null;
  }

  changed() {
    this.dirty = true;
    this.say("");
    this.draw();
    if (!this.pausing) this.sendDraft();
  }

  // The first change goes out at once, those that follow quickly go out together.
  sendDraft() {
    if (!this.dirty || this.waiting) return;
    this.tell("draft");
    this.pausing = setTimeout(() => {
      this.pausing = null;
      this.sendDraft();
    }, PAUSE);
  }

  save() {
    const open = this.typed.indexOf(".");
    if (open >= 0) {
      this.focusMetric(open);
      this.say(`${this.data.metrics[open].metric} has no value yet.`, "bad");
      return;
    }
    this.act("save");
  }

  act(what) {
    // The id is the same however often a key is pressed, so that what it does is done once.
    if (this.waiting || this.data.can[what] === false) return;
    clearTimeout(this.pausing);
    this.pausing = null;
    this.tell(what);
    this.waiting = true;
    this.draw();
    this.silence = setTimeout(() => {
      this.waiting = false;
      this.say("The desk has not answered yet: nothing is lost, press the key again.", "bad");
      this.draw();
    }, SILENCE);
  }

  tell(what) {
    this.countTime();
    const seconds = Math.round(this.seconds * 10) / 10;
    const { id, answer } = this.data;
    this.send("did", { what, id, answer, typed: this.typed.join(""), note: this.note.value, seconds, dirty: this.dirty });
    this.dirty = false;
  }

  say(text, tone = "") {
    this.message.textContent = text;
    this.message.className = `message ${tone}`;
  }
}

const shown = new WeakMap();

export default function (component) {
  const root = component.parentElement;
  if (!shown.has(root)) shown.set(root, new Verdict(root.querySelector(".verdict")));
  const verdict = shown.get(root);
  verdict.show(component);
  return () => {
    verdict.close();
    shown.delete(root);
  };
}
