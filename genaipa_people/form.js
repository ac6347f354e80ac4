// The form in which a person answers a question: the document, the question, a clock, and a box for the answer. The
// clock runs while all that is on screen; a pause takes it from the screen.

const PAUSE = 400; // ms until a change is sent, with those that follow it quickly
const KEEPING = 15; // seconds after which the clock is sent, though nothing is typed
const TICK = 1000;

class Form {
  constructor(root) {
    this.root = root;
    this.id = null;
    this.paused = false;
    this.source = make("div", { class: "source", dir: "auto" });
    this.title = make("h3", { class: "title", dir: "auto" });
    this.question = make("p", { class: "question", dir: "auto" });
    this.clock = make("output", { class: "clock", "aria-label": "Time on screen" });
    this.left = make("span", { class: "left" });
    this.box = make("textarea", { "aria-label": "Your answer", rows: "10", oninput: () => this.changed() });
    this.pauseButton = make("button", { type: "button", onclick: () => this.pause() });
    this.keepButton = make("button", { type: "button", class: "keep", onclick: () => this.keep() }, "Save and continue");
    this.rest = make("p", { class: "rest" }, "Paused: the clock is stopped. To read and write, press “Continue”.");
    this.told = make("div", { class: "told", dir: "auto" });
    this.rules = make("details", {}, make("summary", {}, "What every system is told"), this.told);
    this.work = make("div", { class: "work" }, this.question, this.box, this.rules);
    this.about = make("section", { class: "about" }, this.title, this.source);
    const bar = make("div", { class: "bar" }, this.keepButton, this.pauseButton, this.clock, this.left);
    root.replaceChildren(this.about, make("section", { class: "answer" }, this.work, this.rest, bar));
    new ResizeObserver(() => reach(this.source, "Document")).observe(this.source);
    this.hear = [
      [document, "visibilitychange", () => this.seen()],
      [window, "pagehide", () => this.send()],
    ];
    for (const [where, ...how] of this.hear) where.addEventListener(...how);
    this.ticking = setInterval(() => this.tick(), TICK);
  }

  close() {
    this.send();
    clearInterval(this.ticking);
    clearTimeout(this.waiting);
    for (const [where, ...how] of this.hear) where.removeEventListener(...how);
  }

  show({ data, setTriggerValue }) {
    this.tell = setTriggerValue;
    this.left.textContent = data.left;
    this.keepButton.disabled = false;
    if (data.id === this.id) return;
    this.id = data.id;
    this.title.textContent = data.title;
    this.source.textContent = data.source;
    this.source.scrollTop = 0;
    this.question.textContent = data.question;
    this.told.textContent = data.told;
    this.rules.hidden = !data.told;
    this.box.value = data.text;
    this.seconds = this.sent = data.seconds;
    this.dirty = false;
    this.since = this.counts() ? performance.now() : null;
    this.draw();
  }

  counts() {
    return !this.paused && document.visibilityState === "visible";
  }

  count() {
    const now = performance.now();
    if (this.since !== null) this.seconds += (now - this.since) / 1000;
    this.since = this.counts() ? now : null;
  }

  seen() {
    this.count();
    if (document.visibilityState !== "visible") this.send();
  }

  tick() {
    this.count();
    if (this.seconds - this.sent >= KEEPING) this.send();
    this.draw();
  }

  draw() {
    const whole = Math.floor(this.seconds);
    this.clock.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    this.pauseButton.textContent = this.paused ? "Continue" : "Pause";
    this.work.hidden = this.about.hidden = this.keepButton.hidden = this.paused;
    this.rest.hidden = !this.paused;
  }

  pause() {
    this.count();
    this.paused = !this.paused;
    this.count();
    this.send();
    this.draw();
  }

  changed() {
    this.dirty = true;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.send(), PAUSE);
  }

  answer() {
    this.count();
    return { id: this.id, text: this.box.value, seconds: Math.round(this.seconds * 10) / 10 };
  }

  send() {
    clearTimeout(this.waiting);
    const told = this.answer();
    if (!this.dirty && told.seconds === this.sent) return;
    this.dirty = false;
    this.sent = told.seconds;
    this.tell("draft", told);
  }

  keep() {
    clearTimeout(this.waiting);
    this.keepButton.disabled = true;
    this.dirty = false;
    const told = this.answer();
    this.sent = told.seconds;
    this.tell("kept", told);
  }
}

const forms = new WeakMap();

// Streamlit calls this for each change of the data, and cleans up after a call that was outdated by then: that is no end
// as long as the form is in the page.
export default function (component) {
  const root = component.parentElement.querySelector(".form");
  if (!forms.has(root)) forms.set(root, new Form(root));
  const form = forms.get(root);
  form.show(component);
  return () => {
    if (root.isConnected) return;
    form.close();
    forms.delete(root);
  };
}
