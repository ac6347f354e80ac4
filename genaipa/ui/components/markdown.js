// Markdown as typography: every character stays in its place, in spans that style it. Titles, emphasis, code, lists and
// tables look like such; signs that say so take no room. Links, images and HTML stay the text that they are. A table has a
// scroller of its own; one that a browser would be busy with for seconds stays text.

const EMPHASIS = { "**": "strong", __: "strong", "*": "thin", _: "thin", "`": "code" };
const WIDEST = 32; // letters of a table's column
// What a style says of a stretch to whoever hears it: a mark itself has no name.
const NAMES = {
  annotated: "annotated", cited: "cited", quoted: "quoted", shown: "shown to the system",
  reference: "citation", quotation: "quotation", silence: "says that it is silent",
};
const CELLS = 1000; // of a text's tables: those beyond stay text

// The spans of a line outside of tables, each with its start, its end and its style.
function lineSpans(line, at) {
  const found = [];
  const [, signs, title] = /^( {0,3}#{1,6}[ \t]+)(.*)/.exec(line) || [];
  const bullet = /^[ \t]*(?=[-*+][ \t]+\S)/.exec(line);
  if (title) found.push([at, at + signs.length, "syntax"], [at + signs.length, at + line.length, `topic of${signs.trim().length}`]);
  else if (bullet) found.push([at + bullet[0].length, at + bullet[0].length + 1, "bullet"]);
  for (const { 0: all, 1: sign, index } of line.matchAll(/(?<![\p{L}\p{N}*_`])(\*\*|__|\*|_|`)(?=\S)(?:(?!\1).){0,400}?\S?\1(?![\p{L}\p{N}*_`])/gu)) {
    const [start, end, inner] = [at + index, at + index + all.length, sign.length];
    if (end - start <= 2 * inner) continue;
    found.push([start, start + inner, "syntax"], [start + inner, end - inner, EMPHASIS[sign]], [end - inner, end, "syntax"]);
  }
  return found;
}

// The places of each row's cells, with their lengths.
function cellsOf(rows) {
  return rows.map(({ line, at }) => [...line.matchAll(/[^|\s](?:[^|\n]*[^|\s])?/g)].map(({ 0: cell, index }) => [at + index, cell.length]));
}

// The spans of a table: cells as wide as the widest of their column, bars and the line below the head without room.
function tableSpans(rows, cells) {
  const widths = [];
  for (const row of cells) row.forEach(([, length], n) => (widths[n] = Math.min(Math.max(widths[n] || 0, length), WIDEST)));
  return rows.flatMap(({ line, at }, number) => {
    if (number === 1) return [[at, at + line.length + 1, "syntax gone"]];
    let from = at;
    const found = cells[number].flatMap(([start, length], n) => {
      const before = [from, start, "syntax"];
      from = start + length;
      return [before, [start, from, `cell w${4 * Math.ceil(widths[n] / 4)}${number ? "" : " strong"}`]];
    });
    return [...found, [from, at + line.length, "syntax"]];
  });
}

// The places (numbers of lines) of code between fences, and of the fences themselves. One that is not closed goes on to the end.
function fences(lines) {
  const found = new Map();
  let fence = "";
  lines.forEach(({ line }, n) => {
    const [, sign] = /^ {0,3}(`{3,}|~{3,})/.exec(line) || [];
    const closes = fence && sign?.startsWith(fence) && /^ *[`~]+[ \t]*$/.test(line);
    if (closes || (sign && !fence && !line.trim().slice(sign.length).includes("`"))) {
      found.set(n, "syntax gone");
      fence = closes ? "" : sign;
    } else if (fence) found.set(n, "code");
  });
  return found;
}

// The whole text in stretches, each with its end, its styles and the table that it is in (0: none), in order. One ends at
// each of these places.
function typography(text, places) {
  const lines = [...text.matchAll(/[^\n]+/g)].map(({ 0: line, index }) => ({ line, at: index }));
  const isRow = ({ line } = { line: "" }) => /^ {0,3}\|.*\|[ \t]*$/.test(line);
  const isRule = ({ line } = { line: "" }) => /^[ |:-]*-[ |:-]*$/.test(line);
  const spans = [];
  const tables = [];
  const fenced = fences(lines);
  let room = CELLS;
  for (let n = 0; n < lines.length; n += 1) {
    let last = n;
    if (fenced.has(n)) {
      const { line, at } = lines[n];
      const style = fenced.get(n);
      spans.push([at, Math.min(at + line.length + (style === "code" ? 0 : 1), text.length), style]);
      continue;
    }
    if (isRow(lines[n]) && isRow(lines[n + 1]) && isRule(lines[n + 1])) while (isRow(lines[last + 1])) last += 1;
    const rows = lines.slice(n, last + 1);
    const cells = last > n ? cellsOf(rows) : [];
    const count = cells.flat().length;
    if (count <= room) {
      const own = count ? tableSpans(rows, cells) : rows.flatMap(({ line, at }) => lineSpans(line, at));
      for (const span of own) if (span[1] > span[0]) spans.push(span);
      if (count) tables.push([rows[0].at, Math.min(lines[last].at + lines[last].line.length + 1, text.length)]);
      room -= count;
    }
    n = last;
  }
  const begins = new Map();
  for (const span of spans) begins.set(span[0], [...(begins.get(span[0]) || []), span]);
  const all = [0, text.length, ...places, ...tables.flat(), ...spans.flatMap(([start, end]) => [start, Math.min(end, text.length)])];
  const borders = [...new Set(all)].sort((a, b) => a - b);
  let here = [];
  let table = 0;
  return borders.slice(1).map((end, n) => {
    here = [...here.filter((span) => span[1] > borders[n]), ...(begins.get(borders[n]) || [])];
    while (table < tables.length && tables[table][1] <= borders[n]) table += 1;
    return [end, here.map(([, , style]) => style).join(" "), tables[table]?.[0] <= borders[n] ? table + 1 : 0];
  });
}

// The attributes that name a mark for whoever hears it; a heading has none.
function named(styles) {
  const names = styles.split(" ").map((style) => NAMES[style]).filter(Boolean);
  return names.length ? { role: "group", "aria-label": names.join(", ") } : {};
}

// Pieces of a text (`[text]`, or with styles and marks) as nodes, set as typography, with paragraphs that begin at these
// places. A mark that leads into a table, or out of it, is one in it and one outside.
function set(pieces, breaks = []) {
  const stretches = typography(pieces.map(([text]) => text).join(""), breaks);
  const begins = new Set(breaks);
  const all = document.createDocumentFragment();
  let [from, n, table, box] = [0, 0, 0, all];
  for (const [text, styles, marks] of pieces) {
    const [first, to] = [from, from + text.length];
    let into = null;
    while (from < to) {
      const [end, style, number] = stretches[n];
      if (number !== table) {
        table = number;
        box = table ? all.appendChild(make("span", { class: "table" })) : all;
        into = null;
      }
      into ??= styles ? box.appendChild(make("mark", { class: styles, "data-marks": marks || null, ...named(styles) })) : box;
      const part = text.slice(from - first, Math.min(end, to) - first);
      if (begins.has(from)) into.append(make("span", { class: "paragraph" }));
      into.append(style ? make("span", { class: style }, part) : part);
      from = Math.min(end, to);
      if (from === end) n += 1;
    }
  }
  return [...all.childNodes];
}

// Tables that are wider than their pane.
function reachTables(pane) {
  for (const table of pane.querySelectorAll(".table")) reach(table, "Table");
}
