// What the pad and the adjudication have in common: values that are typed by keys, panels of packages (`panel.js`), a
// note, the seconds that an answer is on screen, drafts, and decisions.

const DRAFT_PAUSE = 250; // ms until a change is sent, with those that follow it quickly
const IDLE = 120; // seconds without a sign of life that count at most as time spent on an answer
const LIFE = ["keydown", "pointerdown", "pointermove", "wheel"];
const KEYLESS = "genaipa keyless"; // the browser's note that letters and digits do nothing
const LONGEST_NOTE = 2000; // letters; what is pasted beyond is cut off in sight
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const SILENCE = 4000; // ms after which a decision that was not answered says so

const TOUCHED = matchMedia("(hover: none), (pointer: coarse)").matches; // without a keyboard, and so without a word on keys

const mounted = new WeakMap();

// Streamlit calls a component for each change of its data, as soon as its script is imported once more, and cleans up
// after a call that was outdated by then: after the next call on a busy machine, or before it. That is no end: what is on
// screen stays, with whatever is typed and has the focus, for as long as the component is in the page.
function mount(component, make) {
  const root = component.parentElement;
  if (!mounted.has(root)) mounted.set(root, make(root));
  const values = mounted.get(root);
  values.show(component);
  values.listen();
  return () => {
    if (!root.isConnected) values.close();
  };
}

// The browser's note of that name; null in a browser that keeps nothing.
function noted(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

class Values {
  constructor(root) {
    this.root = root;
    this.current = 0;
    this.waiting = null;
    this.aloud = make("div", { class: "unseen", role: "status" });
    this.useKeys(noted(KEYLESS) === null);
    leavesFocus(root);
    const alive = () => this.countTime();
    const listening = [
      [document, "keydown", (event) => this.key(event)],
      ...LIFE.map((sign) => [document, sign, alive, true]),
      [document, "visibilitychange", () => this.countTime()],
      [document, "focusin", (event) => this.stay(event)],
      [root, "focusout", ({ target }) => (this.left = target)],
      [document, "selectionchange", () => this.selected()],
      [window, "pagehide", () => this.sendDraft()],
    ];
    // Who listens already hears nothing twice.
    this.listen = () => listening.forEach(([where, ...how]) => where.addEventListener(...how));
    this.deafen = () => listening.forEach(([where, ...how]) => where.removeEventListener(...how));
  }

  close() {
    this.deafen();
    this.stopDraft();
    this.settle();
  }

  // Another answer is on screen, of which so much was typed before.
  begin(draft) {
    const { typed, note, seconds } = draft;
    this.settle();
    this.stopDraft();
    this.typed = [...typed];
    this.letters = LETTERS.filter((letter) => !Object.values(this.data.bound).includes(letter));
    this.panels = Object.entries(this.data.panels ?? {}).map(([name, data]) => Object.assign(new (PANELS[name] ?? Panel)(data, draft, this), { name }));
    this.warned = this.touched = false;
    this.note.value = note;
    this.seconds = seconds;
    this.since = this.counts() ? performance.now() : null;
    this.current = Math.max(0, this.typed.indexOf("."));
    this.dirty = false;
  }

  say(text, tone = "") {
    this.message.textContent = text;
    this.message.className = `message ${tone}`;
    if (text) reach(this.message);
  }

  // For whoever hears the page.
  announce(text) {
    this.aloud.textContent = text;
  }

  // --- buttons ---

  button(text, key, act, can = true, attributes = {}) {
    return make(
      "button",
      { type: "button", disabled: !can, onclick: act, ...attributes },
      `${text} `,
      make("kbd", {}, key),
    );
  }

  saveButton(text = "Save") {
    return this.button(text, "Enter", () => this.save(), !this.typed.includes(".") && !this.waiting, { class: "save" });
  }

  // The button that gives the n-th metric a value.
  choice(n, { key, tone, value, words }, ...more) {
    const chosen = this.typed[n] === key;
    return make(
      "button",
      {
        type: "button",
        class: `choice key${key} ${tone}${chosen ? " chosen" : ""}`,
        "aria-pressed": String(chosen),
        onclick: (event) => {
          event.stopPropagation();
          this.choose(n, key);
        },
      },
      make("kbd", {}, key),
      make("b", {}, value),
      make("span", {}, words),
      ...more,
    );
  }

  // Streamlit's dialog about a lost connection would take the focus from a note, whose digits would then become values.
  // It is closed, and said here: typing goes on without a connection. Until the focus is back, no key counts.
  stay({ target, relatedTarget }) {
    const close = target.closest("[data-testid=stDialog] [role=dialog]")?.querySelector("[aria-label=Close]");
    if (!close) return;
    this.say("The desk can't be reached right now. Continue: it reconnects by itself.", "bad");
    const left = relatedTarget === this.root.getRootNode().host ? this.left : null;
    const goBack = () => {
      this.interrupted = close.isConnected;
      if (this.interrupted) setTimeout(goBack, 20);
      else left?.focus();
    };
    this.interrupted = true;
    setTimeout(() => goBack(close.click()));
  }

  // --- keys ---

  // Whoever dictates, or often hits a wrong key, turns the keys of one character off.
  useKeys(on) {
    this.keyed = on;
    this.root.classList.toggle("keyless", !on);
    try {
      if (on) localStorage.removeItem(KEYLESS);
      else localStorage.setItem(KEYLESS, "yes");
    } catch {
      // A browser that keeps nothing is told again the next time.
    }
  }

  keySwitch() {
    if (TOUCHED) return null;
    const box = make("input", { type: "checkbox", checked: this.keyed, onchange: ({ target }) => this.useKeys(target.checked) });
    return make("label", { title: "Letters and digits act while no field is in use" }, box, "keys");
  }

  // What each key does; other keys are added to these.
  keys() {
    const { metrics, bound } = this.data;
    const digits = metrics[0].lines.map(({ key }) => [key, () => this.choose(this.current, key)]);
    return {
      ...Object.fromEntries(digits),
      ...Object.assign({}, ...this.panels.map((panel) => panel.keys())),
      Backspace: () => this.takeBack(),
      [bound.back]: () => this.act("back"),
      [bound.skip]: () => this.act("skip"),
      [bound.undo]: () => this.act("undo"),
      [bound.note]: () => this.note.focus(),
      Enter: () => this.save(),
    };
  }

  key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.note === this.root.getRootNode().activeElement) {
      event.preventDefault();
      this.note.blur();
      this.save();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.composedPath()[0];
    const typing = target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
    if (typing && target.type !== "checkbox") {
      if (event.key === "Escape" && this.root.contains(target)) target.blur();
      return;
    }
    if (this.interrupted || (target instanceof Element && target.getAttribute("role") === "combobox")) return;
    const key = pressed(event);
    const acts = this.keys();
    // A key that is held down is meant once, but for moving about.
    if (!Object.hasOwn(acts, key) || (event.repeat && !/^(Arrow|Page| )/.test(key))) return;
    if (!this.keyed && key.length === 1) return;
    if (key === "Enter" && takesEnter(target)) return;
    const { id } = this.data;
    if (acts[key]({ target, shiftKey: event.shiftKey }) === false) return;
    if (this.data.id === id) this.touched = true;
    event.preventDefault();
    event.stopPropagation();
  }

  choose(n, key) {
    if (n >= this.typed.length || this.waiting) return;
    this.typed[n] = key;
    this.current = n + 1;
    const { name, lines } = this.data.metrics[n];
    const { value, words } = lines.find((line) => line.key === key);
    this.changed();
    this.announce(`${name}: ${value}, ${words}. ${this.here()}`);
  }

  // Letters for a panel that do nothing else.
  takeLetters(count) {
    return this.letters.splice(0, count);
  }

  // A panel has been used: what is kept of it goes out with what is typed.
  change(text) {
    this.changed();
    this.announce(text);
  }

  // The panel that suggests a value for this metric, if any.
  adviser(metric) {
    return this.panels.find((panel) => panel.suggested(metric) !== undefined);
  }

  // Whether Enter has confirmed the value that a panel suggests, at its metric and while it has none. One that was pressed
  // twice, for the answer before, confirms nothing here.
  confirm() {
    const { metric, name } = this.data.metrics[this.current] ?? {};
    const adviser = this.adviser(metric);
    if (!adviser || !this.touched || this.waiting || this.typed[this.current] !== ".") return false;
    this.choose(this.current, adviser.suggested(metric));
    this.say(`${name} is as suggested: ${adviser.reason()}.`);
    return true;
  }

  // Whether a panel has said what speaks against saving these values; once more saves them.
  warn() {
    const values = Object.fromEntries(this.data.metrics.map(({ metric }, n) => [metric, this.typed[n]]));
    const warning = this.warned ? "" : this.panels.map((panel) => panel.warning(values)).find(Boolean);
    if (!warning) return false;
    this.warned = true;
    this.say(warning, "bad");
    return true;
  }

  takeBack() {
    if (this.waiting) return;
    const here = this.current < this.typed.length && this.typed[this.current] !== ".";
    const n = here ? this.current : Math.min(this.current, this.typed.length) - 1;
    if (n < 0) return;
    this.typed[n] = ".";
    this.current = n;
    this.changed();
    this.announce(this.here());
  }

  focusMetric(n) {
    this.current = Math.min(Math.max(n, 0), this.typed.length - 1);
    this.draw();
    this.announce(this.here());
  }

  // The metric that the next digit gives a value, for whoever hears the page.
  here() {
    const { name, lines } = this.data.metrics[this.current] ?? {};
    const given = lines?.find(({ key }) => key === this.typed[this.current]);
    return name ? `Now ${name}${given ? `: ${given.value}` : ""}` : "All metrics have a value";
  }

  // Other text is selected on the page.
  selected() {}

  // --- drafts and decisions ---

  // Whether what is before the analyst now is the answer.
  counts() {
    return document.visibilityState === "visible";
  }

  countTime() {
    const now = performance.now();
    if (this.since !== null) this.seconds += Math.min((now - this.since) / 1000, IDLE);
    this.since = this.counts() ? now : null;
  }

  // What is typed by now.
  typing() {
    this.countTime();
    const seconds = Math.round(this.seconds * 10) / 10;
    const kept = Object.assign({}, ...this.panels.map((panel) => panel.kept()));
    return { ...kept, id: this.data.id, typed: this.typed.join(""), note: this.note.value, seconds };
  }

  changed() {
    this.dirty = this.touched = true;
    this.say("");
    this.draw();
    this.pausing ??= setTimeout(() => this.sendDraft(), DRAFT_PAUSE);
  }

  sendDraft() {
    this.stopDraft();
    if (!this.dirty || this.waiting) return;
    this.tellDraft();
    this.dirty = false;
  }

  stopDraft() {
    clearTimeout(this.pausing);
    this.pausing = null;
  }

  save() {
    if (this.confirm()) return;
    const open = this.typed.indexOf(".");
    if (open < 0) {
      if (!this.warn()) this.act("save");
      return;
    }
    this.focusMetric(open);
    this.say(`${this.data.metrics[open].name} has no value yet.`, "bad");
  }

  // A decision about this answer. Until the desk has answered there is no other: of two that are under way at once the
  // page would see the later one alone; and the same once more would have Streamlit begin its page anew each time, which
  // a key that is pressed often enough keeps from its end. Sent again after SILENCE it carries the same id, under which
  // it is done once.
  act(name) {
    if (this.data.can[name] === false || this.waiting) return;
    this.stopDraft();
    this.waiting = name;
    this.tellAct(name);
    this.draw();
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.settle();
      this.unanswered();
      this.say("The desk has not answered yet: it is busy, or another program is using its scores. Your input is kept; press the key again.", "bad");
    }, SILENCE);
  }

  // The desk has answered.
  settle() {
    clearTimeout(this.silence);
    this.waiting = null;
  }
}
