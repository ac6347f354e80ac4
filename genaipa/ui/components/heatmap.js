// A heat map: a table of numbers tinted by their bands, the columns of each group side by side.
//
// A cell can be chosen by a click, or by arrow keys and Enter; `chosen` goes to Python with the names of its group, row
// and column. A cell is `{text, band, doubt}`, or null where there is none. The band is read out, and marked by a corner
// as in the report's figures, so that nothing is told by colour alone; so is what rests on a doubtful source, by a dot.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function cellsOf(root) {
  return [...root.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("button")]);
}

// The nearest cell that there is in that direction.
function beside(root, button, [down, right]) {
  const rows = cellsOf(root);
  const y = rows.findIndex((row) => row.includes(button));
  if (right) return rows[y][rows[y].indexOf(button) + right];
  const same = (other) => other.dataset.group === button.dataset.group && other.dataset.column === button.dataset.column;
  for (let at = y + down; at >= 0 && at < rows.length; at += down) {
    const found = rows[at].find(same);
    if (found) return found;
  }
  return undefined;
}

// One cell is reached by Tab, the others by arrow keys from there.
function stop(root, button) {
  for (const other of root.querySelectorAll("button")) other.tabIndex = other === button ? 0 : -1;
}

function cell(found, where, data, choose) {
  if (!found) return make("td", { class: "none" });
  const { group, row, column } = where;
  const here = data.chosen && data.chosen.group === group && data.chosen.row === row && data.chosen.column === column.id;
  const button = make(
    "button",
    {
      type: "button",
      "data-group": group,
      "data-row": row,
      "data-column": column.id,
      "aria-label": `${row}, ${column.name}, ${group}: ${[found.text, found.band, found.doubt].filter(Boolean).join(", ")}`,
      "aria-pressed": String(Boolean(here)),
      onclick: () => choose(where),
    },
    found.text,
  );
  button.tabIndex = -1;
  const node = make("td", { class: `${found.band.toLowerCase()}${here ? " chosen" : ""}${found.doubt ? " doubt" : ""}` }, button);
  node.style.setProperty("--tint", data.tints[found.band]);
  return node;
}

function line(row, data, choose) {
  const cells = row.groups.flatMap(({ n, cells }, g) => [
    make("td", { class: "n first" }, n),
    ...cells.map((found, c) => cell(found, { group: data.groups[g], row: row.name, column: data.columns[c] }, data, choose)),
  ]);
  return make("tr", {}, make("th", { scope: "row", title: row.about || null }, row.name), ...cells);
}

function heads({ groups, columns, head }) {
  const names = groups.map((group) => make("th", { scope: "colgroup", colspan: columns.length + 1, class: "first" }, group));
  const each = groups.flatMap(() => [
    make("th", { scope: "col", class: "n first" }, "n"),
    ...columns.map(({ name }) => make("th", { scope: "col" }, name)),
  ]);
  return make("thead", {}, make("tr", {}, make("td"), ...names), make("tr", {}, make("th", { scope: "col" }, head), ...each));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".heatmap");
  const held = root.getRootNode().activeElement?.dataset;
  const choose = ({ group, row, column }) => setTriggerValue("chosen", { group, row, column: column.id });
  const table = make("table", { "aria-label": data.label }, heads(data), make("tbody", {}, ...data.rows.map((row) => line(row, data, choose))));
  root.replaceChildren(make("div", { class: "scrolled" }, table), make("p", {}, data.legend));
  root.onkeydown = (event) => {
    const step = STEPS[event.key];
    const button = event.target.closest("button");
    const next = step && button && beside(root, button, step);
    if (!next) return;
    event.preventDefault();
    stop(root, next);
    next.focus();
  };
  const buttons = [...root.querySelectorAll("button")];
  const same = (at) => buttons.find(({ dataset }) => at && dataset.group === at.group && dataset.row === at.row && dataset.column === at.column);
  const focused = same(held);
  stop(root, focused || same(data.chosen) || buttons[0]);
  // What had the focus has it again: the cell that was just chosen.
  focused?.focus({ preventScroll: true });
}
