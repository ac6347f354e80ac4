// An answer to be read: the question, the answer and its evidence, the annotated answer, and the document with its marks.
//
// Its data are those of the pad's answer (`answer_view.py`), with the document's. Every text is put on screen as text.

const SIGNS = { bad: "✗", unsure: "≈", plain: "·", good: "✓" };

class Case {
  constructor(root) {
    this.root = root;
    leavesFocus(root);
    root.addEventListener("click", ({ target }) => {
      const mark = target.closest("mark[data-marks], button[data-marks]");
      if (mark && !this.document.contains(mark)) this.jump(mark.dataset.marks.split(" ")[0]);
    });
  }

  show({ answer, document, names }) {
    const drawn = JSON.stringify([answer, document.digest]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const pane = (name, label) => make("div", { class: `text ${name}`, dir: "auto", tabindex: "0", role: "group", "aria-label": label });
    const reply = pane("reply", "Answer");
    fill(reply, ...(answer.words ? set(answer.reply) : [make("em", {}, "(empty)")]));
    this.document = pane("document", "Text of the document");
    fill(this.document, ...set(cut(document.text, answer.pieces), document.breaks));
    const original = answer.original ? `Originally: ${answer.original}` : answer.earlier;
    fill(
      this.root,
      this.entry("strong", document.name, [original], make("div", { class: "text asked", dir: "auto" }, answer.question)),
      this.entry("", "Answer", [answer.state], reply),
      this.annotated(answer.annotated),
      this.evidence(answer.evidence, names),
      this.entry("", "Document", [answer.retrieved ? make("span", { class: "legend" }, shownMark(answer.retrieved)) : ""], this.document),
    );
    this.jump(answer.first, false);
    drawBars(this.document);
    this.resized ??= new ResizeObserver(() => {
      drawBars(this.document);
      reachTables(this.root);
      for (const one of this.root.querySelectorAll(".asked, ul")) reach(one, one.matches("ul") ? "" : "Question");
    });
    this.resized.disconnect();
    this.resized.observe(this.document);
  }

  entry(tone, title, asides, ...content) {
    const head = make("div", { class: "head" }, make("span", { class: "title", dir: "auto" }, title), ...asides);
    return make("section", { class: `entry ${tone}`, "aria-label": title }, head, ...content);
  }

  annotated(annotated) {
    const text = make("div", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "Annotated answer" });
    if (!annotated) {
      text.append("This question has no annotated answer.");
      return this.entry("", "Annotated answer", [], text);
    }
    const said = [annotated.doubt, annotated.text, annotated.rule, annotated.note].filter(Boolean).join("\n\n");
    fill(text, ...set([[said]]));
    const sections = annotated.sections.map(({ label, mark }) =>
      make("button", { type: "button", disabled: !mark, "data-marks": mark || null }, label),
    );
    return this.entry("good", annotated.silent ? `Annotated answer: ${annotated.silent}` : "Annotated answer", sections, text);
  }

  // What is wrong comes first.
  evidence(evidence, names) {
    const lines = Object.keys(SIGNS).flatMap((tone) =>
      Object.entries(evidence).flatMap(([metric, all]) =>
        all
          .filter((line) => line.tone === tone)
          .map(({ text, mark }) =>
            make(
              "li",
              { class: tone, dir: "auto" },
              `${SIGNS[tone]} ${names[metric]}: `,
              mark ? make("button", { type: "button", "data-marks": mark }, text) : text,
            ),
          ),
      ),
    );
    return lines.length ? this.entry("", "Evidence", [], make("ul", {}, ...lines)) : null;
  }

  jump(mark, lit = true) {
    const marked = mark ? [...this.document.querySelectorAll(`mark[data-marks~="${CSS.escape(mark)}"]`)] : [];
    if (marked.length) this.document.scrollTop = marked[0].offsetTop - 24;
    for (const piece of this.document.querySelectorAll(".lit")) piece.classList.remove("lit");
    if (lit) for (const piece of marked) piece.classList.add("lit");
  }
}

const cases = new WeakMap();

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".case");
  if (!cases.has(root)) cases.set(root, new Case(root));
  cases.get(root).show(data);
}
