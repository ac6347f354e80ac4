// The scoring pad: one answer beside its document, the metrics of the rubric, and the keys that score it.
//
// Python sends what to show in parts (`feed.js`): the document, the answer (`answer_view.py` says what is in both), the
// analyst's turn at it with their past (`recall.js`), and what comes after it (`following.js`); `reading.js` is the way about the
// document. Python gets two things back: `draft`, the unfinished score as it grows, and `act`, what the analyst decided (save,
// skip, undo, back, go, object, …). Every text is put on screen as text.

const SIGNS = { bad: "✗", unsure: "≈" };
// The answer's own marks say whether it is right, the document's what it is about.
const MARKS =
  "In the document: what the annotated answer rests on, sections that the answer cites, passages that it quotes, and the passage pinned for the question. " +
  "In the answer: green text is in the document, dotted text nearly is, dashed text is not.";
const LINE = 75; // letters of evidence in a line, about
const EVIDENCE = 3; // lines of evidence that always have room
const AWAY = 2000; // ms between two attempts to reach the scores
// The browser's notes that the answer is shown without the document's sentences, and without grey words.
const PLAIN = "genaipa plain";
const UNGREYED = "genaipa ungreyed";

// Under which name the browser keeps what is being typed for an answer: it outlives the tab.
function place({ analyst, mode, answer }) {
  return `genaipa ${analyst} ${mode} ${answer}`;
}

// What scrolls: Tab leads there, and then the keys of the browser scroll it.
function pane(name) {
  return { dir: "auto", tabindex: "0", role: "group", "aria-label": name };
}

const showing = new WeakMap(); // node → what it shows, as text

// Give a node other children where it is to show something else than it does: a key changes little of a page.
function redraw(node, shows, children) {
  const text = JSON.stringify(shows);
  if (showing.get(node) === text) return;
  showing.set(node, text);
  fill(node, ...children());
}

class Pad extends Reading {
  constructor(root) {
    super(root);
    this.revision = 0;
    this.sent = 0;
    this.build();
  }

  // --- what is on screen ---

  build() {
    const part = (name, tag = "div", attributes = {}) => (this[name] = make(tag, { class: name, ...attributes }));
    const search = part("search", "input", {
      type: "search",
      "aria-label": "Search the document",
      oninput: () => this.find(false),
      onkeydown: (event) => {
        if (event.key === "Enter") this.find(true, event.shiftKey);
        if (event.key !== "Escape") return;
        search.value = "";
        this.find(false);
      },
    });
    const note = part("note", "textarea", {
      "aria-label": "Note",
      rows: "2",
      maxlength: LONGEST_NOTE,
      oninput: () => {
        this.changed();
        this.offerNote();
      },
      onkeydown: (event) => this.completeNote(event),
    });
    const left = make(
      "section",
      { class: "left", "aria-label": "Question and answer" },
      part("question"),
      this.objectionForm(),
      make("h2", { class: "unseen" }, "Answer"),
      part("reply", "div", { ...pane("Answer"), onclick: (event) => this.follow(event) }),
      part("beside"),
      part("evidence", "div", pane("Evidence")),
      part("expected", "div", pane("Annotated answer")),
    );
    const right = make(
      "section",
      { class: "right", "aria-label": "Document" },
      make("div", { class: "bar" }, part("title", "h2"), search, part("found", "div", { role: "status" }), this.legend()),
      part("document", "div", pane("Text of the document")),
    );
    const foot = make(
      "section",
      { class: "foot", "aria-label": "Score" },
      make("div", { class: "values" }, part("metrics"), part("message", "div", { role: "status" })),
      make("div", { class: "side" }, note, part("buttons")),
    );
    this.screen = make("div", { class: "screen" }, part("progress"), make("div", { class: "panes" }, left, right), foot);
    const overlay = part("overlay", "dialog", {
      "aria-label": "Your score beside the reference analyst's",
      oncancel: (event) => {
        event.preventDefault();
        this.goOn();
      },
    });
    fill(this.root, this.screen, overlay, this.list, this.aloud);
    // At first, and whenever the window changes.
    const resized = new ResizeObserver(() => {
      drawBars(this.document, this.pinned);
      this.reachAll();
    });
    for (const one of [this.document, this.reply]) resized.observe(one);
    // Which of the texts a selection begins in; from outside of the component one can't tell.
    this.root.addEventListener("click", () => this.data && this.acts());
    this.root.addEventListener("selectstart", ({ target }) => (this.selecting = this.document.contains(target)));
  }

  // Whatever scrolls and is no pane, at the size that it has now.
  reachAll() {
    reachTables(this.screen);
    for (const asked of this.question.querySelectorAll(".asked")) reach(asked);
  }

  legend() {
    const marks = ["annotated", "cited", "quoted", "pinned"].map((name) => make("mark", { class: name }, name));
    return (this.marks = make("div", { class: "legend", title: MARKS }, ...marks));
  }

  // The pad itself comes once, with the metrics.
  show({ data }) {
    this.rubric = data;
    const pad = (globalThis.genaipaPad ??= { feeds: {} });
    pad.take = () => this.take(pad.feeds);
    pad.take();
  }

  showTurn(data) {
    const before = this.data;
    this.data = data;
    const said = data.progress.map((text, n) => make("span", { class: n ? "" : "first" }, text));
    fill(this.progress, ...said, make("div", { class: "about" }, this.keySwitch(), this.helpButton()));
    this.search.placeholder = TOUCHED ? "Search the document" : `Search the document (${data.bound.search})`;
    this.note.placeholder = TOUCHED ? "Note" : `Note (${data.bound.note}); Esc leaves it, Ctrl+Enter saves`;
    if (before && before.id === data.id) {
      if (data.answered === this.sent) this.settle();
      if (data.trouble) this.say(data.trouble, "bad");
      else if (before.trouble) this.say("");
      this.repinned(before.pin);
      this.objected();
      this.draw();
      this.compare(data.comparison);
      this.comeBack();
      return;
    }
    if (before && data.settled === before.id && !this.saving) this.forget(before);
    const scored = before?.id === data.settled && ["save", "compared"].includes(this.waiting) ? before : null;
    this.restore(data);
    // What was written of an objection to another answer comes back with that one.
    if (before?.answer !== data.answer) this.object(false);
    const drawn = this.texts(before, scored);
    if (data.trouble || this.unsaved) this.say(data.trouble || "Not saved yet: Enter saves it.", "bad");
    else this.say(data.message || "");
    this.announce(`${data.progress[0]}: ${data.question}`);
    this.draw();
    this.arrive(drawn);
    // The same answer comes anew when the desk was started again: whoever writes a note then goes on writing.
    if (before?.answer !== data.answer) this.root.getRootNode().activeElement?.blur();
    // In a narrow window the answer is above the metrics, and one has scrolled to these.
    if (before && getComputedStyle(this.screen).position === "static") this.screen.scrollIntoView();
    // Whatever led here keeps the focus until Streamlit takes it away, and would swallow the first Enter.
    if (!before) document.activeElement?.blur();
    this.compare(data.comparison);
    this.comeBack();
  }

  // While the scores can't be reached, what is typed goes out again and again: the page is itself as soon as they can be.
  comeBack() {
    clearTimeout(this.knocking);
    if (this.data.away) this.knocking = setTimeout(() => this.root.isConnected && this.knock(), AWAY);
  }

  knock() {
    this.revision += 1;
    this.keep();
    this.tellDraft();
  }

  // What was typed: from the server, unless the browser kept a later state of it that never got there.
  restore(data) {
    let { draft } = data;
    this.unsaved = false;
    try {
      const kept = JSON.parse(localStorage.getItem(place(data)) || "null");
      const newer = draft.turn
        ? (kept?.turn === draft.turn && kept.revision > draft.revision) || kept?.base === draft.turn
        : !draft.updated;
      const same = kept?.turn === draft.turn && kept?.revision === draft.revision;
      this.unsaved = Boolean(kept?.entered && (newer || same));
      if (kept && newer) draft = kept;
    } catch {
      // A browser that keeps nothing loses nothing that the server has.
    }
    // The draft that the server has, until it gets a later one: what is typed from here on goes on from that.
    this.base = data.draft.turn;
    this.revision = draft.revision;
    const { nearest = false, grey = false, evidence = [], suggestion = [], withheld = {} } = draft.shown ?? {};
    this.shown = { nearest, grey, evidence: [...evidence], suggestion: [...suggestion, ...Object.keys(withheld)] };
    this.reading = /^\.*$/.test(draft.typed);
    this.begin(draft);
  }

  // With it, whether Enter was pressed.
  keep(entered = false) {
    try {
      localStorage.setItem(place(this.data), JSON.stringify({ ...this.draft(), turn: this.data.id, base: this.base, entered }));
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

  texts(before, scored) {
    const { data } = this;
    // The passage that the answer before was held against is the one for this, too, where the question is the same.
    const stays = before?.document === data.document && before.question === data.question;
    // While the browser knows where everything is: after each change it would have to lay the page out for this.
    this.reply.scrollTop = 0;
    if (!stays) this.document.scrollTop = 0;
    fill(
      this.question,
      make("h2", { class: "asked", dir: "auto" }, data.question),
      data.original ? make("div", { class: "original", dir: "auto" }, `Originally: ${data.original}`) : null,
      data.earlier ? make("div", { class: "original", dir: "auto" }, data.earlier) : null,
      data.state ? make("div", { class: "state" }, data.state) : null,
    );
    fill(this.reply, ...(data.words ? set(data.reply) : [make("em", {}, "(The answer is empty.)")]));
    this.showAnnotated();
    // Room for what the metrics will say, so that nothing moves from one to the next.
    const lines = Object.values(data.evidence).map((all) => all.reduce((sum, { text }) => sum + Math.ceil(text.length / LINE), 0));
    this.evidence.style.setProperty("--lines", Math.min(EVIDENCE, Math.max(1, ...lines)));
    // The document is drawn anew only when it or what is marked in it differs.
    const anew = before?.document !== data.document || JSON.stringify(before.pieces) !== JSON.stringify(data.pieces);
    if (anew) {
      this.title.textContent = this.policy.name;
      fill(this.document, ...set(cut(this.policy.text, data.pieces), this.policy.breaks));
      this.inDocument = null;
    }
    this.marks.querySelector(".shown")?.remove();
    if (data.retrieved) this.marks.append(shownMark(data.retrieved));
    const reply = characters(this.reply);
    this.said = data.sentences.map((one) => ({ ...one, range: reply.range(one.at, one.length) }));
    this.greyRepeated(scored, reply);
    this.drawClaims();
    this.look(-1);
    return { anew, stays };
  }

  // Beneath each sentence of the answer that claims something the nearest one of the document (`nearest.py` finds it): its
  // words are no part of the answer's text, for whoever copies or hears that.
  drawClaims() {
    for (const [n, { line, literal, range }] of this.said.entries()) {
      if (line === null || range.startContainer.parentElement.closest(".table")) continue;
      const near = literal ? "✓ word for word" : line || "nothing near";
      const name = literal || !line ? near : `nearest in the document: ${near}`;
      const beneath = make("span", { class: `claim${literal ? " exact" : line ? "" : " far"}`, role: "img", "aria-label": name });
      beneath.dataset.of = n;
      beneath.dataset.near = near;
      const end = range.cloneRange();
      end.collapse(false);
      // A mark's line is under the answer's words alone.
      const mark = range.endContainer.parentElement.closest("mark");
      if (mark && range.endOffset === range.endContainer.length) end.setStartAfter(mark);
      end.insertNode(beneath);
    }
    this.showClaims();
  }

  showClaims() {
    const on = noted(PLAIN) === null;
    this.reply.classList.toggle("claims", on);
    if (on && this.reply.querySelector(".claim")) this.shown.nearest = true;
  }

  // Where the answer that was just scored was to the same question, this one's words that it had, too, are grey.
  greyRepeated(scored, { whole, range }) {
    const { document, question } = this.data;
    const same = scored?.document === document && scored.question === question;
    const known = same ? repeated(whole, scored.reply.map(([text]) => text).join("")) : [];
    this.known = known.map(([start, end]) => range(start, end - start));
    this.drawKnown();
  }

  drawKnown() {
    const known = noted(UNGREYED) === null ? this.known : [];
    light("genaipa-known", known);
    if (known.length) this.shown.grey = true;
    this.question.querySelector(".known")?.remove();
    if (known.length) this.question.append(make("div", { class: "aside known" }, `Grey: as in the answer just scored (${this.data.bound.grey})`));
  }

  // Turn a way of showing the answer off, or on again; the browser keeps it.
  turn(name) {
    try {
      if (noted(name) === null) localStorage.setItem(name, "yes");
      else localStorage.removeItem(name);
    } catch {
      // As in restore().
    }
    this.showClaims();
    this.drawKnown();
  }

  // Where the document is read from, once all else is drawn.
  arrive({ anew, stays }) {
    if (anew || this.pinned || this.data.pin) this.markPinned();
    this.reachAll();
    if (this.pinned) reveal(this.document, this.pinned);
    else if (this.data.first && !stays) this.scrollTo(this.data.first);
    this.find(false);
    if (this.pinned && !this.sought) this.found.textContent = "pinned";
  }

  showAnnotated() {
    const { annotated } = this.data;
    if (!annotated) {
      fill(this.expected, make("div", { class: "head" }, make("h2", {}, "There is no annotated answer to this question.")));
      return;
    }
    const sections = annotated.sections.map(({ label, mark }) =>
      make("button", { type: "button", disabled: !mark, onclick: () => this.jump(mark) }, label),
    );
    const mine = this.data.objection.mine;
    const key = this.data.bound.wrong;
    const wrong = this.button(mine ? "You objected" : "Wrong here?", key, () => this.object(!this.objecting), true, {
      class: `wrong${mine ? " mine" : ""}`,
      title: `Say that the annotated answer is wrong, with the passage that proves it. Key: ${key}`,
    });
    fill(
      this.expected,
      make("div", { class: "head" }, make("h2", {}, annotated.silent ? `Annotated answer: ${annotated.silent}` : "Annotated answer"), ...sections, wrong),
      annotated.doubt ? make("div", { class: "state", dir: "auto" }, annotated.doubt) : null,
      make("div", { class: "text", dir: "auto" }, ...set([[annotated.text]])),
      annotated.rule ? make("div", { class: "rule" }, annotated.rule) : null,
      annotated.note ? make("div", { class: "aside", dir: "auto" }, annotated.note) : null,
    );
  }

  draw() {
    const { data } = this;
    const { bound } = data;
    this.reach();
    const columns = data.metrics.map(({ wide }) => `minmax(0, ${wide ? 1.35 : 1}fr)`);
    this.metrics.style.setProperty("--columns", columns.join(" "));
    redraw(this.metrics, data.metrics.map(({ metric }) => metric), () => data.metrics.map((entry, n) => this.metric(entry, n)));
    data.metrics.forEach((entry, n) => this.drawMetric(this.metrics.children[n], entry, n));
    this.drawPanels();
    this.drawEvidence();
    const full = !this.typed.includes(".");
    redraw(this.buttons, [data.mode, data.can, bound, this.waiting, full], () => this.commands());
  }

  commands() {
    const { data } = this;
    const { bound } = data;
    const button = (text, key, act, can) => this.button(text, key, act, can, { title: `Key: ${key}` });
    return [
      this.saveButton(data.mode === "correction" ? "Save the correction" : "Save"),
      button("Back", bound.back, () => this.act("back"), data.can.back),
      button("Skip", bound.skip, () => this.act("skip"), data.can.skip),
      button("Undo", bound.undo, () => this.act("undo"), data.can.undo),
      data.guidelines && this.button("Guidelines", bound.guidelines, () => this.showGuidelines(), true, { class: "guide" }),
    ];
  }

  // Note which metric one has come to, with its evidence and suggestion; nobody has who has done nothing but read.
  reach() {
    const { metrics, suggestion, withheld, evidence } = this.data;
    const { metric } = metrics[Math.min(this.current, metrics.length - 1)];
    const note = (list) => list.includes(metric) || list.push(metric);
    if (evidence[metric]?.length) note(this.shown.evidence);
    const suggests = suggestion[metric] || withheld.includes(metric);
    if (this.reading || !suggests || this.shown.suggestion.includes(metric)) return;
    // Held back or not: the scores of both are of analysts who came so far.
    note(this.shown.suggestion);
  }

  // The key of the value that is suggested for a metric, once one has come to it.
  suggested(metric) {
    return this.shown.suggestion.includes(metric) ? this.data.suggestion[metric] : undefined;
  }

  // The analyst has done something about this answer: a key was of use, or something was clicked.
  key(event) {
    super.key(event);
    if (event.defaultPrevented) this.acts();
  }

  acts() {
    if (!this.reading) return;
    this.reading = false;
    this.draw();
  }

  metric({ metric, name, question }, n) {
    return make("div", {
      class: "metric",
      role: "group",
      "aria-label": question ? `${name}: ${question}` : name,
      title: question || null,
      "data-metric": metric,
      onclick: () => this.focusMetric(n),
    });
  }

  drawMetric(node, { metric, name, lines }, n) {
    const suggestion = this.suggested(metric);
    node.classList.toggle("current", n === this.current);
    if (n === this.current) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
    const signed = !this.reading && this.shown.evidence.includes(metric);
    const doubts = ["bad", "unsure"].map((tone) => [tone, signed ? this.evidenceOn(metric, tone).length : 0]).filter(([, count]) => count);
    const advised = this.adviser(metric)?.suggested(metric);
    // It is heard at the choice, and seen as its dashed line alone; why is in the evidence.
    const heard = ({ key }) => (key === (advised ?? suggestion) ? make("small", { class: "unseen" }, "suggested") : null);
    redraw(node, [this.typed[n], doubts, suggestion, advised], () => [
      make("h2", {}, name, ...doubts.map(([tone, count]) => this.doubt(tone, count))),
      ...lines.map((line) => this.choice(n, line, heard(line))),
    ]);
  }

  // What packages show of the answer, each in a part of its own.
  drawPanels() {
    for (const panel of this.panels) {
      panel.node ??= make("div", { class: `panel ${panel.name}`, ...pane(panel.title) });
      redraw(panel.node, panel.kept(), () => panel.draw());
    }
    const nodes = this.panels.map(({ node }) => node).filter((node) => node.hasChildNodes());
    if (nodes.length !== this.beside.children.length || nodes.some((node, n) => node !== this.beside.children[n])) this.beside.replaceChildren(...nodes);
  }

  // The button of a section that a panel names.
  leadTo(section) {
    const mark = this.data.places[section];
    return make("button", { type: "button", disabled: !mark, title: "Show it in the document", onclick: () => this.jump(mark) }, section);
  }

  doubt(tone, count) {
    const sign = make("span", { "aria-hidden": "true" }, `${SIGNS[tone]} ${count}`);
    const heard = make("span", { class: "unseen" }, `${count} doubt${count > 1 ? "s" : ""}`);
    return make("small", { class: tone, title: "Lines of evidence, shown at this metric" }, sign, heard);
  }

  evidenceOn(metric, tone) {
    return (this.data.evidence[metric] || []).filter((line) => line.tone === tone);
  }

  // At the metric one is at: line by line what is wrong, doubtful or to be known, and in one line all that is right.
  drawEvidence() {
    const { metrics, reason, held_back: heldBack } = this.data;
    const { metric, name } = metrics[Math.min(this.current, metrics.length - 1)];
    const shows = [metric, this.data.evidence[metric], this.suggested(metric), reason, this.adviser(metric)?.reason(), heldBack];
    redraw(this.evidence, shows, () => this.evidenceAt(metric, name));
  }

  evidenceAt(metric, name) {
    const { reason, held_back: heldBack } = this.data;
    const piece = ({ text, mark }) =>
      mark ? make("button", { type: "button", onclick: () => this.jump(mark) }, text) : make("span", {}, text);
    const lines = ["bad", "unsure", "plain"].flatMap((tone) =>
      this.evidenceOn(metric, tone).map((line) => make("li", { class: tone, dir: "auto" }, piece(line))),
    );
    const right = this.evidenceOn(metric, "good").flatMap((line) => [" · ", piece(line)]).slice(1);
    if (right.length) lines.push(make("li", { class: "good", dir: "auto" }, ...right));
    // What is right or wrong says why; only what is neither leaves it to say.
    const said = right.length || this.evidenceOn(metric, "bad").length;
    if (this.suggested(metric) && !said) lines.push(make("li", { class: "plain" }, `Suggested: ${reason}`));
    const adviser = this.adviser(metric);
    if (adviser) lines.push(make("li", { class: "plain" }, `Suggested: ${adviser.reason()}; Enter accepts it`));
    // What is missing would else read as if there were nothing to say.
    if (heldBack.length) lines.push(make("li", { class: "plain held" }, `Held back at this answer, by chance: ${heldBack.join(", ")}`));
    return [make("h2", {}, name), make("ul", {}, ...lines)];
  }

  // What analysts agreed on, at the metric one is at; and the whole of it.
  showGuidelines(whole = false) {
    const { guidelines, metrics, bound } = this.data;
    if (!guidelines) return;
    const { metric, name } = metrics[Math.min(this.current, metrics.length - 1)];
    const section = guidelines.sections[metric];
    const text = make("div", { class: "guidelines", dir: "auto", tabindex: "0", role: "group", autofocus: true, "aria-label": "Guidelines" });
    if (whole || !section) {
      fill(text, ...set([[guidelines.text]]));
      this.openList("Guidelines", text);
      return;
    }
    fill(text, ...set([[section]]));
    const all = this.button("All guidelines", bound.guidelines, () => this.showGuidelines(true), true, { class: "whole" });
    this.openList(`Guidelines: ${name}`, text, all);
  }

  compare(comparison) {
    // What the time goes to while it is read is not the answer.
    this.countTime();
    this.compared = Boolean(comparison);
    this.countTime();
    if (!comparison) {
      this.overlay.close();
      fill(this.overlay);
      return;
    }
    if (this.overlay.open) return;
    const rows = comparison.rows.map((row) =>
      make(
        "tr",
        { class: row.same ? "same" : "differs" },
        make("th", { scope: "row" }, row.metric),
        make("td", {}, row.mine),
        make("td", {}, row.theirs),
      ),
    );
    fill(
      this.overlay,
      make(
        "div",
        { class: "comparison" },
        make("h2", {}, "Your score beside the reference analyst's"),
        make("div", { class: "about", ...pane("The question") }, comparison.question),
        make("div", { class: "about quiet", ...pane("The answer") }, comparison.reply),
        make(
          "table",
          {},
          make("tr", {}, make("td", {}), make("th", { scope: "col" }, "you"), make("th", { scope: "col" }, comparison.by)),
          ...rows,
        ),
        comparison.note ? make("p", { dir: "auto" }, `${comparison.by}: ${comparison.note}`) : null,
        make("button", { type: "button", class: "save", autofocus: true, onclick: () => this.goOn() }, "Go on ", make("kbd", {}, "Enter")),
      ),
    );
    this.overlay.showModal();
    // The focus is on its last line.
    this.overlay.scrollTop = 0;
  }

  counts() {
    return super.counts() && !this.compared && !this.objecting;
  }

  // The comparison stays until the next answer is there.
  goOn() {
    this.act("compared");
  }

  // --- keys ---

  keys() {
    if (this.compared) return { Enter: () => this.goOn() };
    if (this.listed) return super.keys();
    const { bound } = this.data;
    return {
      ...super.keys(),
      ArrowLeft: () => this.focusMetric(this.current - 1),
      ArrowRight: () => this.focusMetric(this.current + 1),
      " ": (event) => this.readOn(event, event.shiftKey ? -1 : 1, this.reply, this.expected),
      PageDown: (event) => this.readOn(event, 1, this.document),
      PageUp: (event) => this.readOn(event, -1, this.document),
      [bound.search]: () => this.search.focus(),
      [bound.highlight]: () => this.nextHighlight(),
      [bound.pin]: () => this.pin(),
      [bound.sentence]: () => this.lead(this.sentence + 1),
      [bound.sentence_before]: () => this.lead(this.sentence - 1),
      [bound.nearest]: () => this.nextNearest(1),
      [bound.nearest_before]: () => this.nextNearest(-1),
      [bound.wrong]: () => this.object(!this.objecting),
      [bound.guidelines]: () => this.showGuidelines(),
      [bound.claims]: () => this.turn(PLAIN),
      [bound.grey]: () => this.turn(UNGREYED),
    };
  }

  // A page on in the first of these panes that has more, or a page back in the last; false leaves the key to the browser:
  // whatever has the focus knows what to do with it.
  readOn({ target }, step, ...panes) {
    const focused = this.root.contains(target) || takesEnter(target);
    const more = (one) => (step > 0 ? one.scrollTop + one.clientHeight < one.scrollHeight - 1 : one.scrollTop > 0);
    const pane = (step > 0 ? panes : panes.reverse()).find(more);
    if (focused || !pane) return false;
    pane.scrollTop += 0.9 * step * pane.clientHeight;
    return true;
  }

  // --- drafts and decisions ---

  draft() {
    return { ...this.typing(), revision: this.revision, shown: this.shown };
  }

  changed() {
    this.revision += 1;
    this.keep();
    super.changed();
  }

  tellDraft() {
    this.component.setStateValue("draft", this.draft());
  }

  tellAct(name) {
    const more = { object: { objection: this.proposed }, pin: { pin: this.pinning }, go: { to: this.to } };
    if (name === "save") this.keep(true);
    this.tell(name, { ...this.draft(), ...more[name] });
  }

  tell(name, more = {}) {
    this.sent += 1;
    this.acted = { act: name, id: this.data.id, number: this.sent, ...more };
    this.component.setTriggerValue("act", this.acted);
  }

  // What was typed goes out once more.
  unanswered() {
    this.changed();
  }

  // --- an objection to the annotated answer ---

  // In the place of the answer, so that the annotated answer, the document and the score stay in sight.
  objectionForm() {
    const field = (name, tag, label, attributes, ...children) => {
      const node = make(tag, { "aria-label": label, oninput: () => this.keepObjection(), ...attributes }, ...children);
      this.fields[name] = node;
      return make("label", {}, label, node);
    };
    const option = (value, text) => make("option", { value }, text);
    this.fields = {};
    this.refused = make("div", { class: "refused", role: "status" });
    this.withdraw = make("button", { type: "button", onclick: () => this.propose(null) }, "Withdraw");
    this.closing = make("button", { type: "button", onclick: () => this.object(false) });
    return make(
      "section",
      {
        class: "objection",
        "aria-label": "Objection to the annotated answer",
        onkeydown: (event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.propose(this.objection());
        },
      },
      make("h2", {}, "The annotated answer is wrong here"),
      field("passage", "textarea", "Passage that proves it (select it in the document)", { rows: "2" }),
      field("silent", "select", "The document", {}, option("no", "answers the question"), option("partly", "answers only some of it"), option("yes", "is silent (N/A)")),
      field("answer", "textarea", "The right answer (empty to keep the annotated one)", { rows: "2" }),
      field("why", "input", "Why, in a sentence", {}),
      make(
        "div",
        { class: "buttons" },
        this.button("Save the objection", "Ctrl+Enter", () => this.propose(this.objection())),
        this.withdraw,
        this.closing,
      ),
      this.refused,
    );
  }

  objection() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, { value }]) => [name, value]));
  }

  // Open the form, with what was written in it before, or close it; what is typed of the score stays.
  object(open) {
    if (open && !this.data.objection) return;
    const passage = open && this.selecting ? String(getSelection()).trim() : "";
    this.countTime();
    this.objecting = open;
    this.countTime();
    this.screen.classList.toggle("objecting", open);
    if (!open) return;
    const { annotated, objection } = this.data;
    let written = null;
    try {
      written = JSON.parse(localStorage.getItem(`${place(this.data)} objection`) || "null");
    } catch {
      // As in restore().
    }
    const before = written ?? objection.mine ?? { passage: "", silent: annotated.is === "yes" ? "no" : annotated.is, answer: "", why: "" };
    for (const [name, node] of Object.entries(this.fields)) node.value = before[name] ?? "";
    this.withdraw.hidden = !objection.mine;
    // In a field the key is a letter.
    fill(this.closing, "Close ", make("kbd", {}, "Esc"), " ", make("kbd", {}, this.data.bound.wrong));
    this.refused.textContent = "";
    if (passage) this.quote(passage);
    (this.fields.passage.value ? this.fields.answer : this.fields.passage).focus();
  }

  quote(passage) {
    this.fields.passage.value = passage;
    this.keepObjection();
  }

  selected() {
    const passage = this.objecting && this.selecting ? String(getSelection()).trim() : "";
    if (passage) this.quote(passage);
  }

  keepObjection() {
    try {
      localStorage.setItem(`${place(this.data)} objection`, JSON.stringify(this.objection()));
    } catch {
      // As in restore().
    }
  }

  // Send the objection, or withdraw it (null).
  propose(objection) {
    if (this.waiting) return;
    if (this.saving) {
      this.wait(() => this.propose(objection));
      return;
    }
    this.proposed = objection;
    this.act("object");
  }

  // The desk has answered an objection: kept or withdrawn it, or said why not.
  objected() {
    const { answered, away, trouble, objection } = this.data;
    if (this.proposed === undefined || answered !== this.sent) return;
    const withdrawn = this.proposed === null;
    this.proposed = undefined;
    this.refused.textContent = away ? trouble : objection.trouble;
    if (this.refused.textContent) {
      this.refused.scrollIntoView({ block: "nearest" });
      return;
    }
    try {
      localStorage.removeItem(`${place(this.data)} objection`);
    } catch {
      // As in restore().
    }
    this.object(false);
    this.root.getRootNode().activeElement?.blur();
    this.showAnnotated();
    this.say(withdrawn ? "Your objection is withdrawn." : "Your objection is saved; your score is unchanged.");
  }
}

export default function (component) {
  return mount(component, (root) => new Pad(root.querySelector(".pad")));
}
