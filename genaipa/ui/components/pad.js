// The scoring pad: one answer beside its document, five metrics, and the keys that score it.
//
// Python sends what to show (`view.py` says what is in it) and gets two things back: `draft`, the unfinished score as
// it grows, and `act`, what the analyst decided (save, skip, undo, back, …). Every text is put on screen as text.

const METRICS = 5;
const DRAFT_PAUSE = 250; // ms between two drafts that are sent; what is typed in between is kept in the browser
const SILENCE = 4000; // ms after which a score that was not confirmed says so

function fill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child != null));
}

// Under which name the browser keeps what is being typed for an answer: it outlives the tab.
function place({ analyst, mode, answer }) {
  return `genaipa ${analyst} ${mode} ${answer}`;
}

function texts(pieces) {
  return pieces.map(([text, styles, marks]) =>
    styles ? make("mark", { class: styles, "data-marks": marks || null }, text) : document.createTextNode(text),
  );
}

class Pad {
  constructor(root) {
    this.root = root;
    this.data = null;
    this.typed = [];
    this.current = 0;
    this.revision = 0;
    this.sent = 0;
    this.waiting = null;
    this.build();
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
    clearTimeout(this.draftTimer);
    clearTimeout(this.silenceTimer);
  }

  // --- what is on screen ---

  build() {
    const part = (name, tag = "div", attributes = {}) => (this[name] = make(tag, { class: name, ...attributes }));
    const search = part("search", "input", {
      type: "search",
      placeholder: "Search the document (/)",
      "aria-label": "Search the document",
      oninput: () => this.find(false),
      onkeydown: (event) => {
        if (event.key === "Enter") this.find(true, event.shiftKey);
      },
    });
    const note = part("note", "textarea", {
      placeholder: "Note (n); Esc leaves it",
      "aria-label": "Note",
      rows: "2",
      oninput: () => this.changed(),
    });
    const left = make(
      "section",
      { class: "left", "aria-label": "Question and answer" },
      part("question"),
      part("reply", "div", { dir: "auto", tabindex: "-1", onclick: (event) => this.follow(event) }),
      part("expected"),
    );
    const right = make(
      "section",
      { class: "right", "aria-label": "Document" },
      make("div", { class: "bar" }, part("title"), search, part("found"), part("legend")),
      part("document", "div", { dir: "auto", tabindex: "-1" }),
    );
    const foot = make(
      "section",
      { class: "foot", "aria-label": "Score" },
      part("metrics"),
      make("div", { class: "side" }, note, part("buttons"), part("message", "div", { role: "status" })),
    );
    this.screen = make("div", { class: "screen" }, part("progress"), make("div", { class: "panes" }, left, right), foot);
    fill(this.root, this.screen, part("overlay"));
  }

  show(component) {
    this.component = component;
    const data = component.data;
    const before = this.data;
    this.data = data;
    fill(this.progress, ...data.progress.map((text, n) => make("span", { class: n ? "" : "first" }, text)));
    if (before && before.id === data.id) {
      if (data.answered === this.sent) this.settle();
      if (data.trouble) this.say(data.trouble, "bad");
      this.buttonsAndMetrics();
      return;
    }
    this.settle();
    clearTimeout(this.draftTimer);
    this.draftTimer = null;
    if (before && data.settled === before.id) this.forget(before);
    this.restore(data);
    this.current = Math.max(0, this.typed.indexOf("."));
    this.texts(before);
    this.say(data.message || "");
    this.buttonsAndMetrics();
    this.compare(data.comparison);
    // The same answer comes anew when the desk was started again: whoever writes a note then goes on writing.
    if (before?.answer !== data.answer) this.root.getRootNode().activeElement?.blur();
    // Whatever led here keeps the focus until Streamlit takes it away, and would swallow the first Enter.
    if (!before) document.activeElement?.blur();
  }

  // What was typed: from the server, unless the browser kept a later state of it that never got there.
  restore(data) {
    let { draft } = data;
    try {
      const kept = JSON.parse(localStorage.getItem(place(data)) || "null");
      const newer = draft.turn ? kept?.turn === draft.turn && kept.revision > draft.revision : !draft.updated;
      if (kept && newer) draft = kept;
    } catch {
      // A browser that keeps nothing loses nothing that the server has.
    }
    this.revision = draft.revision;
    this.typed = [...draft.typed];
    this.note.value = draft.note;
    this.seconds = draft.seconds;
    this.since = document.visibilityState === "visible" ? performance.now() : null;
    this.dirty = false;
  }

  keep() {
    try {
      localStorage.setItem(place(this.data), JSON.stringify(this.draft()));
    } catch {
      // As in restore().
    }
  }

  forget(data) {
    try {
      localStorage.removeItem(place(data));
    } catch {
      // As in restore().
    }
  }

  texts(before) {
    const { data } = this;
    fill(
      this.question,
      make("div", { class: "asked", dir: "auto" }, data.question),
      data.original ? make("div", { class: "original", dir: "auto" }, `Originally: ${data.original}`) : null,
      data.state ? make("div", { class: "state" }, data.state) : null,
    );
    fill(this.reply, ...(data.words ? texts(data.reply) : [make("em", {}, "(The answer is empty.)")]));
    this.reply.scrollTop = 0;
    this.showAnnotated();
    // The document is drawn anew only when it or what is marked in it differs.
    if (!before || JSON.stringify(before.document) !== JSON.stringify(data.document)) {
      this.title.textContent = data.document.name;
      fill(this.document, ...texts(data.document.pieces));
    }
    fill(
      this.legend,
      make("mark", { class: "annotated" }, "annotated"),
      make("mark", { class: "cited" }, "cited"),
      make("mark", { class: "quoted" }, "quoted"),
    );
    if (data.first) this.scrollTo(data.first);
    else this.document.scrollTop = 0;
    this.find(false);
  }

  showAnnotated() {
    const { annotated } = this.data;
    if (!annotated) {
      fill(this.expected, make("div", { class: "head" }, "There is no annotated answer to this question."));
      return;
    }
    const sections = annotated.sections.map(({ label, mark }) =>
      make("button", { type: "button", disabled: !mark, onclick: () => this.jump(mark) }, label),
    );
    fill(
      this.expected,
      make("div", { class: "head" }, annotated.silent ? "Annotated answer: the document is silent" : "Annotated answer", ...sections),
      make("div", { class: "text", dir: "auto" }, annotated.text),
      annotated.rule ? make("div", { class: "rule" }, annotated.rule) : null,
      annotated.note ? make("div", { class: "aside", dir: "auto" }, annotated.note) : null,
    );
  }

  buttonsAndMetrics() {
    const { data } = this;
    fill(this.metrics, ...data.rubric.map((entry, n) => this.metric(entry, n)));
    const button = (name, key, act, can = true) =>
      make("button", { type: "button", disabled: !can, onclick: act, title: `Key: ${key}` }, `${name} `, make("kbd", {}, key));
    const adjudicating = data.mode === "adjudication";
    fill(
      this.buttons,
      make(
        "button",
        { type: "button", class: "save", disabled: this.typed.includes(".") || Boolean(this.waiting), onclick: () => this.save() },
        data.mode === "correction" ? "Save the correction " : "Save ",
        make("kbd", {}, "Enter"),
      ),
      adjudicating ? null : button("Back", "b", () => this.act("back"), data.can.back),
      button("Skip", "s", () => this.act("skip"), data.can.skip),
      button("Undo", "u", () => this.act("undo"), data.can.undo),
      button("Note", "n", () => this.note.focus()),
      button("Search", "/", () => this.search.focus()),
      button("Next highlight", "h", () => this.nextHighlight()),
      data.reason
        ? make(
            "label",
            { class: "preselect" },
            make("input", {
              type: "checkbox",
              checked: data.preselect,
              onchange: (event) => this.tell("preselect", { on: event.target.checked }),
            }),
            "fill suggestions in",
          )
        : null,
    );
    for (const node of this.buttons.querySelectorAll("button")) node.addEventListener("mousedown", (e) => e.preventDefault());
  }

  metric({ metric, lines }, n) {
    const chosen = this.typed[n];
    const suggested = this.data.suggestion[metric];
    const choices = lines.map(([key, value, words]) =>
      make(
        "button",
        {
          type: "button",
          class: `choice key${key}${chosen === key ? " chosen" : ""}`,
          "aria-pressed": String(chosen === key),
          onmousedown: (event) => event.preventDefault(),
          onclick: (event) => {
            event.stopPropagation();
            this.choose(n, key);
          },
        },
        make("kbd", {}, key),
        make("b", {}, value),
        make("span", {}, words),
        suggested === key ? make("small", { title: this.data.reason }, "suggested") : null,
      ),
    );
    const evidence = (this.data.evidence[metric] || []).map(({ tone, text, mark }) =>
      make(
        "li",
        { class: tone, dir: "auto" },
        mark ? make("button", { type: "button", onmousedown: (e) => e.preventDefault(), onclick: () => this.jump(mark) }, text) : text,
      ),
    );
    if (suggested) evidence.push(make("li", { class: "plain" }, `Suggested: ${this.data.reason}`));
    return make(
      "div",
      { class: `metric${n === this.current ? " current" : ""}`, "data-metric": metric, onclick: () => this.focusMetric(n) },
      make("h3", {}, metric),
      ...choices,
      make("ul", { class: "evidence" }, ...evidence),
    );
  }

  compare(comparison) {
    this.compared = Boolean(comparison);
    this.overlay.classList.toggle("open", this.compared);
    if (!comparison) {
      fill(this.overlay);
      return;
    }
    const rows = comparison.rows.map((row) =>
      make(
        "tr",
        { class: row.same ? "same" : "differs" },
        make("th", {}, row.metric),
        make("td", {}, row.mine),
        make("td", {}, row.theirs),
      ),
    );
    fill(
      this.overlay,
      make(
        "div",
        { class: "comparison", role: "dialog", "aria-label": "Your score beside the reference analyst's" },
        make("h2", {}, "Your score beside the reference analyst's"),
        make("div", { class: "about", dir: "auto" }, comparison.question),
        make("div", { class: "about quiet", dir: "auto" }, comparison.reply),
        make(
          "table",
          {},
          make("tr", {}, make("th", {}), make("th", {}, "you"), make("th", {}, comparison.by)),
          ...rows,
        ),
        comparison.note ? make("p", { dir: "auto" }, `${comparison.by}: ${comparison.note}`) : null,
        make("button", { type: "button", onclick: () => this.goOn() }, "Go on ", make("kbd", {}, "Enter")),
      ),
    );
  }

  goOn() {
    this.compare(null);
    this.tell("compared");
  }

  say(text, tone = "") {
    this.message.textContent = text;
    this.message.className = `message ${tone}`;
  }

  // --- keys ---

  key(event) {
    if (!this.root.isConnected) {
      this.close();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !this.data) return;
    const target = event.composedPath()[0];
    const typing = target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
    if (typing && target.type !== "checkbox") {
      if (event.key === "Escape" && this.root.contains(target)) target.blur();
      return;
    }
    if (this.compared) {
      if (event.key === "Enter" || event.key === "Escape") this.take(event, () => this.goOn());
      return;
    }
    const acts = {
      1: () => this.choose(this.current, "1"),
      2: () => this.choose(this.current, "2"),
      3: () => this.choose(this.current, "3"),
      Backspace: () => this.takeBack(),
      ArrowLeft: () => this.focusMetric(this.current - 1),
      ArrowRight: () => this.focusMetric(this.current + 1),
      b: () => this.act("back"),
      s: () => this.act("skip"),
      u: () => this.act("undo"),
      n: () => this.note.focus(),
      "/": () => this.search.focus(),
      h: () => this.nextHighlight(),
    };
    // A key that is held down is meant once, but for moving about.
    if (event.repeat && !event.key.startsWith("Arrow")) return;
    const key = pressed(event);
    if (key === "Enter" && !takesEnter(target)) this.take(event, () => this.save());
    else if (Object.hasOwn(acts, key)) this.take(event, acts[key]);
  }

  take(event, act) {
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  choose(n, key) {
    if (n >= METRICS || this.waiting) return;
    this.typed[n] = key;
    this.current = n + 1;
    this.changed();
  }

  takeBack() {
    if (this.waiting) return;
    const n = this.current < METRICS && this.typed[this.current] !== "." ? this.current : Math.min(this.current, METRICS) - 1;
    if (n < 0) return;
    this.typed[n] = ".";
    this.current = n;
    this.changed();
  }

  focusMetric(n) {
    this.current = Math.min(Math.max(n, 0), METRICS - 1);
    this.buttonsAndMetrics();
  }

  // --- drafts and decisions ---

  countTime() {
    const now = performance.now();
    if (this.since !== null) this.seconds += (now - this.since) / 1000;
    this.since = document.visibilityState === "visible" ? now : null;
  }

  draft() {
    this.countTime();
    return {
      id: this.data.id,
      answer: this.data.answer,
      typed: this.typed.join(""),
      note: this.note.value,
      seconds: Math.round(this.seconds * 10) / 10,
      turn: this.data.id,
      revision: this.revision,
    };
  }

  changed() {
    this.dirty = true;
    this.revision += 1;
    this.say("");
    this.buttonsAndMetrics();
    this.keep();
    if (!this.draftTimer) this.sendDraft();
  }

  // The first change goes out at once, those that follow quickly go out together.
  sendDraft() {
    if (!this.dirty || this.waiting) return;
    this.dirty = false;
    this.component.setStateValue("draft", this.draft());
    this.draftTimer = setTimeout(() => {
      this.draftTimer = null;
      this.sendDraft();
    }, DRAFT_PAUSE);
  }

  save() {
    if (this.typed.includes(".")) {
      this.focusMetric(this.typed.indexOf("."));
      this.say(`${this.data.rubric[this.current].metric} has no value yet.`, "bad");
      return;
    }
    this.act("save");
  }

  // A decision about this answer. Until the desk has answered there is no other: of two that are under way at once the
  // page would see the later one alone. A second Enter sends the same score under the same id, which is kept once.
  act(name) {
    if (this.data.can[name] === false || (this.waiting && this.waiting !== name)) return;
    clearTimeout(this.draftTimer);
    this.draftTimer = null;
    this.waiting = name;
    this.tell(name, this.draft());
    this.buttonsAndMetrics();
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => {
      this.settle();
      this.dirty = true;
      this.changed();
      this.say("The desk has not answered yet. What you typed is kept: press the key again.", "bad");
    }, SILENCE);
  }

  tell(name, more = {}) {
    this.sent += 1;
    this.component.setTriggerValue("act", { act: name, id: this.data.id, number: this.sent, ...more });
  }

  settle() {
    clearTimeout(this.silenceTimer);
    this.waiting = null;
  }

  // --- the document ---

  // The pieces of the document that carry a mark.
  marked(mark) {
    return [...this.document.querySelectorAll(`mark[data-marks~="${CSS.escape(mark)}"]`)];
  }

  scrollTo(mark) {
    const [first] = this.marked(mark);
    if (first) this.document.scrollTop = first.offsetTop - 24;
  }

  jump(mark) {
    this.scrollTo(mark);
    for (const lit of this.document.querySelectorAll(".lit")) lit.classList.remove("lit");
    for (const piece of this.marked(mark)) piece.classList.add("lit");
  }

  follow(event) {
    const mark = event.target.closest("mark[data-marks]");
    if (mark) this.jump(mark.dataset.marks.split(" ")[0]);
  }

  nextHighlight() {
    const tops = [...this.document.querySelectorAll("mark.annotated, mark.cited, mark.quoted")].map(
      (mark) => mark.offsetTop - 24,
    );
    if (!tops.length) return;
    const next = tops.find((top) => top > this.document.scrollTop + 8);
    this.document.scrollTop = next ?? tops[0];
  }

  find(onward, backward = false) {
    const wanted = this.search.value.trim().toLowerCase();
    const highlights = globalThis.CSS?.highlights;
    if (!wanted) {
      this.hits = [];
      highlights?.delete("genaipa-found");
      highlights?.delete("genaipa-here");
      this.found.textContent = "";
      return;
    }
    if (!onward || !this.hits?.length) {
      this.hits = this.ranges(wanted);
      this.hit = this.hits.length ? 0 : -1;
    } else {
      this.hit = (this.hit + (backward ? -1 : 1) + this.hits.length) % this.hits.length;
    }
    this.found.textContent = this.hits.length ? `${this.hit + 1} of ${this.hits.length}` : "not found";
    highlights?.set("genaipa-found", new Highlight(...this.hits));
    highlights?.delete("genaipa-here");
    if (this.hit < 0) return;
    const here = this.hits[this.hit];
    highlights?.set("genaipa-here", new Highlight(here));
    const box = here.getBoundingClientRect();
    this.document.scrollTop += box.top - this.document.getBoundingClientRect().top - this.document.clientHeight / 3;
  }

  // Where a text stands in the document, across the borders of highlights.
  ranges(wanted) {
    const nodes = [];
    let whole = "";
    const walker = document.createTreeWalker(this.document, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      nodes.push([whole.length, walker.currentNode]);
      whole += walker.currentNode.data.toLowerCase();
    }
    const place = (offset) => {
      let low = 0;
      let high = nodes.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (nodes[middle][0] <= offset) low = middle;
        else high = middle - 1;
      }
      return [nodes[low][1], Math.min(offset - nodes[low][0], nodes[low][1].length)];
    };
    const hits = [];
    for (let at = whole.indexOf(wanted); at >= 0 && hits.length < 1000; at = whole.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(...place(at));
      const [node, offset] = place(at + wanted.length - 1);
      range.setEnd(node, Math.min(offset + 1, node.length));
      hits.push(range);
    }
    return hits;
  }
}

const pads = new WeakMap();

export default function (component) {
  const root = component.parentElement;
  let pad = pads.get(root);
  if (!pad) {
    pad = new Pad(root.querySelector(".pad"));
    pads.set(root, pad);
  }
  pad.show(component);
  // A page that is put together twice may clean up after the first time once the second is there: that pad stays.
  pad.mount = (pad.mount || 0) + 1;
  const { mount } = pad;
  return () => {
    if (pad.mount !== mount) return;
    pad.close();
    pads.delete(root);
  };
}
