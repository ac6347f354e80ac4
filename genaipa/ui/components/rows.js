// A table. Every cell is put on screen as text; Python sends the rows that are visible, however many there are in all.
//
// A cell is a text, or `{text, …}` with one of: `share` (0 to 1) draws a bar under it; `low, value, high` draws an
// interval on a track that is `scale` long; `tone` colours it. A row with an `id` can be chosen: `chosen` goes to Python,
// and `turned` (-1 or +1) when another page of rows is wanted.

function bar(cell) {
  const filled = make("i");
  filled.style.width = `${100 * Math.min(Math.max(cell.share, 0), 1)}%`;
  return make("div", { class: "bar" }, filled);
}

function interval({ low = null, value, high = null, scale: [from, to] = [-1, 1] }) {
  const place = (at) => `${(100 * (Math.min(Math.max(at, from), to) - from)) / (to - from)}%`;
  const zero = make("i", { class: "zero" });
  const range = make("i", { class: "range" });
  const point = make("i", { class: "point" });
  zero.style.left = place(0);
  range.style.left = place(low ?? value);
  range.style.right = `calc(100% - ${place(high ?? value)})`;
  point.style.left = place(value);
  return make("div", { class: "track" }, zero, range, point);
}

function drawn(cell, column) {
  const { text, tone, share, value } = typeof cell === "object" ? cell : { text: cell };
  return make(
    "td",
    { class: `${column.right ? "right " : ""}${tone || ""}`, dir: "auto" },
    make("span", {}, text),
    share === undefined ? null : bar(cell),
    value === undefined ? null : interval(cell),
  );
}

function row({ id, cells }, data, choose) {
  const tells = (event) => {
    if (event.type === "click" || event.key === "Enter") choose(id);
  };
  const chosen = Boolean(id) && id === data.chosen;
  const can = id ? { tabindex: "0", onclick: tells, onkeydown: tells, "aria-selected": String(chosen) } : {};
  const classes = `${id ? "choice " : ""}${chosen ? "chosen" : ""}`;
  return make("tr", { class: classes, ...can }, ...cells.map((cell, n) => drawn(cell, data.columns[n])));
}

function turning({ first, last, all }, turn) {
  const button = (text, step, can) => {
    const node = make("button", { type: "button", "aria-label": step < 0 ? "Earlier rows" : "Further rows", onclick: () => turn(step) }, text);
    node.disabled = !can;
    return node;
  };
  const where = `${first.toLocaleString("en")} to ${last.toLocaleString("en")} of ${all.toLocaleString("en")}`;
  return make("div", { class: "turning" }, button("‹", -1, first > 1), make("span", {}, where), button("›", 1, last < all));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const heads = data.columns.map(({ name, right }) => make(name ? "th" : "td", { scope: name ? "col" : null, class: right ? "right" : null }, name));
  const rows = data.rows.map((each) => row(each, data, (id) => setTriggerValue("chosen", id)));
  const named = data.columns.some(({ name }) => name);
  const choosing = data.rows.some(({ id }) => id) ? "choosing" : null;
  const table = make("table", { "aria-label": data.label, class: choosing }, named ? make("thead", {}, make("tr", {}, ...heads)) : null, make("tbody", {}, ...rows));
  const box = parentElement.querySelector(".rows");
  box.replaceChildren(table, ...(data.page ? [turning(data.page, (step) => setTriggerValue("turned", step))] : []));
  // A table that is wider than the window can be reached, and is scrolled by the arrow keys.
  const wide = new ResizeObserver(() => reach(box, data.label));
  wide.observe(box);
  return () => wide.disconnect();
}
