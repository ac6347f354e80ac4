// What a reader at the scoring desk sees: texts, with the places where reading them begins and ends, in pixels of the window.

const middle = ({ top, bottom }) => (top + bottom) / 2;
const pane = (node) => node.closest(".reply, .expected, .document, .evidence") ?? node;
const below = (node) => {
  const [{ bottom }, last] = [pane(node).getBoundingClientRect(), lines(node).at(-1)];
  return last ? last.bottom - bottom : 0;
};
const lines = (node) => {
  const range = new Range();
  range.selectNodeContents(node);
  return [...range.getClientRects()].filter(({ width }) => width > 1);
};
const within = (from, to) => {
  const walker = document.createTreeWalker(window.eye.pad().querySelector(".document"), NodeFilter.SHOW_TEXT);
  const range = new Range();
  let at = 0;
  while (walker.nextNode()) {
    const { length } = walker.currentNode;
    if (at <= from && from < at + length) range.setStart(walker.currentNode, from - at);
    if (at < to && to <= at + length) { range.setEnd(walker.currentNode, to - at); break; }
    at += length;
  }
  return range;
};
window.eye = {
  pad() { return [...document.querySelectorAll("*")].map((e) => e.shadowRoot?.querySelector(".pad")).find(Boolean); },
  look(place, n = 0) {
    const node = window.eye.pad().querySelectorAll(place)[n];
    const all = node ? lines(node) : [];
    if (!all.length) return null;
    const [first, last] = [all[0], all.at(-1)];
    return { text: node.textContent, tone: node.className, from: [first.left, middle(first)], to: [last.right, middle(last)], below: below(node) };
  },
  all(place) { return [...window.eye.pad().querySelectorAll(place)].length; },
  page(place) {
    const node = pane(window.eye.pad().querySelector(place));
    node.scrollTop += 0.9 * node.clientHeight;
  },
  box(place) {
    const { left, top, width, height } = pane(window.eye.pad().querySelector(place)).getBoundingClientRect();
    return [left + width / 2, top + height / 2, height];
  },
  scrolled(place) { return pane(window.eye.pad().querySelector(place)).scrollTop; },
  passages() {
    const walker = document.createTreeWalker(window.eye.pad().querySelector(".document"), NodeFilter.SHOW_TEXT);
    const found = [];
    let at = 0;
    while (walker.nextNode()) {
      const { length } = walker.currentNode;
      if (walker.currentNode.parentElement.closest("mark.annotated")) found.push([at, at + length]);
      at += length;
    }
    return found;
  },
  text() { return window.eye.pad().querySelector(".document").textContent; },
  place(from, to) {
    const frame = window.eye.pad().querySelector(".document").getBoundingClientRect();
    const boxes = [...within(from, to).getClientRects()].filter(({ width }) => width > 1);
    const [first, last] = [boxes[0], boxes.at(-1)];
    return { from: [first.left, middle(first)], to: [last.right, middle(last)], above: frame.top - first.top, below: Math.min(last.bottom, first.top + frame.height / 2) - frame.bottom };
  },
  lit() {
    const here = [...(CSS.highlights.get("genaipa-near") ?? [])][0];
    if (!here) return null;
    const before = new Range();
    before.setStart(window.eye.pad().querySelector(".document"), 0);
    before.setEnd(here.startContainer, here.startOffset);
    const at = before.toString().length;
    return [at, at + here.toString().length];
  },
};
