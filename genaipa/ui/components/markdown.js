// Markdown as typography: every character stays in its place, in spans that style it. Titles, emphasis, code, lists and
// tables look like such; signs that say so take no room. Links, images and HTML stay the text that they are.

const EMPHASIS = { "**": "strong", __: "strong", "*": "thin", _: "thin", "`": "code" };
const WIDEST = 32; // letters of a table's column

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

// The spans of a table: cells as wide as the widest of their column, bars and the line below the head without room.
function tableSpans(rows) {
  const cells = rows.map(({ line, at }) => [...line.matchAll(/[^|\s](?:[^|\n]*[^|\s])?/g)].map(({ 0: cell, index }) => [at + index, cell.length]));
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

// The whole text in stretches, each with its end and its styles, in order.
function typography(text) {
  const lines = [...text.matchAll(/[^\n]+/g)].map(({ 0: line, index }) => ({ line, at: index }));
  const isRow = ({ line } = { line: "" }) => /^ {0,3}\|.*\|[ \t]*$/.test(line);
  const isRule = ({ line } = { line: "" }) => /^[ |:-]*-[ |:-]*$/.test(line);
  const spans = [];
  for (let n = 0; n < lines.length; n += 1) {
    let last = n;
    if (isRow(lines[n]) && isRow(lines[n + 1]) && isRule(lines[n + 1])) while (isRow(lines[last + 1])) last += 1;
    const own = last > n ? tableSpans(lines.slice(n, last + 1)) : lineSpans(lines[n].line, lines[n].at);
    for (const span of own) if (span[1] > span[0]) spans.push(span);
    n = last;
  }
  const begins = new Map();
  for (const span of spans) begins.set(span[0], [...(begins.get(span[0]) || []), span]);
  const borders = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [start, Math.min(end, text.length)])])].sort((a, b) => a - b);
  let here = [];
  return borders.slice(1).map((end, n) => {
    here = [...here.filter((span) => span[1] > borders[n]), ...(begins.get(borders[n]) || [])];
    return [end, here.map(([, , style]) => style).join(" ")];
  });
}

// Pieces of a text (`[text]`, or with styles and marks) as nodes, set as typography.
function set(pieces) {
  const stretches = typography(pieces.map(([text]) => text).join(""));
  let from = 0;
  let n = 0;
  return pieces.flatMap(([text, styles, marks]) => {
    const [begin, to] = [from, from + text.length];
    const nodes = [];
    while (from < to) {
      const [end, style] = stretches[n];
      const part = text.slice(from - begin, Math.min(end, to) - begin);
      nodes.push(style ? make("span", { class: style }, part) : document.createTextNode(part));
      from = Math.min(end, to);
      if (from === end) n += 1;
    }
    return styles ? [make("mark", { class: styles, "data-marks": marks || null }, ...nodes)] : nodes;
  });
}
