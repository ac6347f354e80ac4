// The way about the document beside an answer: what is marked in it, its sentences nearest to one of the answer, the
// passage that is pinned for the question, and what is searched for.

// A pattern for a word with any kind of quotes and hyphens.
function forgiving(word) {
  return word
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replace(/['\u2018\u2019\u02bc]/g, "['\u2018\u2019\u02bc]")
    .replace(/["\u201c\u201d\u201e]/g, '["\u201c\u201d\u201e]')
    .replace(/[-\u2010-\u2014]/g, "[-\u2010-\u2014]");
}

// The places ([at, length]) where a text has these words in a row, however they are spaced and whatever quotes and hyphens
// they have.
function inARow(words, text, from = 0) {
  const pattern = words.split(/\s+/).map(forgiving).join("\\s+");
  return [...text.matchAll(new RegExp(pattern, "giu"))].map((match) => [from + match.index, match[0].length]);
}

// The characters of a pane as one text, and the range in it of so many of them from a place, across highlights.
function characters(pane) {
  const nodes = [];
  let whole = "";
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    nodes.push([whole.length, walker.currentNode]);
    whole += walker.currentNode.data;
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
  const range = (at, length) => {
    const found = new Range();
    found.setStart(...place(at));
    const [node, offset] = place(at + length - 1);
    found.setEnd(node, Math.min(offset + 1, node.length));
    return found;
  };
  return { whole, range };
}

// Light up these ranges, and no others, by the style of that name.
function light(name, ranges) {
  if (ranges.length) globalThis.CSS?.highlights?.set(name, new Highlight(...ranges));
  else globalThis.CSS?.highlights?.delete(name);
}

// Scroll a pane so that a range is in its upper third.
function reveal(pane, range) {
  pane.scrollTop += range.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
}

class Reading extends Following {
  // --- marks ---

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
    const pieces = this.marked(mark);
    for (const piece of pieces) piece.classList.add("lit");
    if (!pieces.length) return;
    this.lit = new Range();
    this.lit.setStartBefore(pieces[0]);
    this.lit.setEndAfter(pieces.at(-1));
  }

  follow(event) {
    const mark = event.target.closest("mark[data-marks]");
    if (mark) {
      this.jump(mark.dataset.marks.split(" ")[0]);
      return;
    }
    const claim = event.target.closest(".claim");
    const at = this.said.findIndex(({ range }, n) =>
      claim ? n === Number(claim.dataset.of) : [...range.getClientRects()].some(
        ({ left, right, top, bottom }) =>
          event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom,
      ),
    );
    if (at >= 0 && String(getSelection()) === "") {
      this.look(at);
      this.nextNearest(1);
    }
  }

  // --- nearest words ---

  // Be at the n-th sentence of the answer; before the first one is at the question.
  look(n) {
    this.sentence = Math.min(Math.max(n, -1), this.said.length - 1);
    this.near = null;
    this.lit = this.hits?.[this.hit] ?? null;
    const here = this.said[this.sentence];
    light("genaipa-sentence", here ? [here.range] : []);
    light("genaipa-near", []);
    this.found.textContent = "";
  }

  // The same by keys, which have to bring it in sight; what is clicked is, and stays under the mouse.
  lead(n) {
    this.look(n);
    const here = this.said[this.sentence];
    if (here) reveal(this.reply, here.range);
  }

  // Show the next of the document's sentences that are nearest to the one of the answer, or to the question. Where the
  // document is silent on the question, those that would be shown have nothing to do with it.
  nextNearest(step) {
    this.inDocument ??= characters(this.document).range;
    const silent = this.sentence < 0 && this.data.annotated?.is === "yes";
    if (!this.near) {
      this.near = this.said[this.sentence]?.near ?? this.data.near;
      this.nearAt = step > 0 ? -1 : 0;
    }
    const { length } = this.near;
    this.nearAt = (this.nearAt + step + length) % (length || 1);
    const here = this.near[this.nearAt];
    this.found.textContent = here ? `nearest words ${this.nearAt + 1} of ${length}` : silent ? "nothing near: silent" : "nothing near";
    const range = here && this.inDocument(...here);
    light("genaipa-near", range ? [range] : []);
    if (!range) return;
    this.lit = range;
    reveal(this.document, range);
    this.announce(`nearest: ${range}`);
  }

  // --- the passage that is pinned for the question ---

  // What is selected in the document, else what was lit there last, else what is pinned.
  chosen() {
    const selected = this.selecting ? String(getSelection()).trim() : "";
    if (!selected) return this.lit ?? this.pinned;
    const { whole, range } = characters(this.document);
    const found = inARow(selected, whole).map(([at, length]) => range(at, length));
    const pane = this.document.getBoundingClientRect();
    return found.find((one) => one.getBoundingClientRect().bottom > pane.top) ?? found[0];
  }

  pin() {
    if (this.waiting) return;
    const range = this.chosen();
    const { pin, bound } = this.data;
    if (!range) {
      this.say(`Nothing to pin: highlight a passage with ${bound.nearest} or ${bound.search}, or select one, then press ${bound.pin}.`, "bad");
      return;
    }
    this.lit = range;
    const before = new Range();
    before.setStart(this.document, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const [start, { length: letters }] = [String(before).length, String(range)];
    // What is searched for is a word or two: pinned is the sentence that has it.
    const word = range === this.word;
    const within = pin && pin.at <= start && start + letters <= pin.at + pin.length;
    const remove = Boolean(within) && (word || (pin.at === start && pin.length === letters));
    this.pinning = remove ? { at: pin.at, length: pin.length, word: false, remove } : { at: start, length: letters, word, remove };
    this.act("pin");
  }

  // Say at the passage itself that it is pinned.
  markPinned() {
    const { pin } = this.data;
    if (pin) this.inDocument ??= characters(this.document).range;
    this.pinned = pin ? this.inDocument(pin.at, pin.length) : null;
    light("genaipa-pinned", this.pinned ? [this.pinned] : []);
    if (this.pinned) this.announce(`${this.aloud.textContent} pinned: ${this.pinned}`.trim());
    drawBars(this.document, this.pinned);
  }

  // Another passage is pinned than before, or none.
  repinned(before) {
    const { pin } = this.data;
    if (JSON.stringify(pin) === JSON.stringify(before)) return;
    this.markPinned();
    if (pin) this.lit = null;
    light("genaipa-near", []);
    this.found.textContent = pin ? "pinned" : "";
    this.say(pin ? "Pinned: later answers to this question open here." : "The passage is no longer pinned.");
  }

  nextHighlight() {
    const marks = [...this.document.querySelectorAll("mark.annotated, mark.cited, mark.quoted")];
    if (!marks.length) {
      this.announce("Nothing is highlighted.");
      return;
    }
    const top = (mark) => mark.offsetTop - 24;
    const next = marks.find((mark) => top(mark) > this.document.scrollTop + 8) ?? marks[0];
    this.document.scrollTop = top(next);
    const [, ...words] = /^\s*(.{0,100}\S*)/s.exec(next.textContent) ?? [];
    this.announce(`${next.getAttribute("aria-label")}, ${marks.indexOf(next) + 1} of ${marks.length}: ${words.join("")}`);
  }

  // --- search ---

  find(onward, backward = false) {
    const wanted = this.search.value.trim();
    if (!wanted || !onward || !this.hits?.length) {
      this.hits = wanted ? this.ranges(wanted) : [];
      this.hit = 0;
    } else {
      this.hit = (this.hit + (backward ? -1 : 1) + this.hits.length) % this.hits.length;
    }
    const here = this.hits[this.hit];
    if (wanted || this.sought || !this.near) this.found.textContent = here ? `${this.hit + 1} of ${this.hits.length}` : wanted && "not found";
    if (here) this.lit = this.word = here;
    this.sought = wanted;
    light("genaipa-found", this.hits);
    light("genaipa-here", here ? [here] : []);
    if (here) reveal(this.document, here);
  }

  // The places in the document, across the borders of highlights, that have the words in a row; where there are none, the words in paragraphs that have them all.
  ranges(wanted) {
    const { whole, range } = characters(this.document);
    const words = wanted.split(/\s+/);
    let found = inARow(wanted, whole);
    if (!found.length) {
      found = [...whole.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) => {
        const each = words.map((word) => inARow(word, line, index));
        return each.every((places) => places.length) ? each.flat().sort((one, other) => one[0] - other[0]) : [];
      });
    }
    return found.slice(0, 1000).map(([at, length]) => range(at, length));
  }
}
