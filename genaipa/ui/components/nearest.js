// Which sentences of a text have most words in common with another: a hint where to look, and no verdict.
//
// Words are compared by their first letters, without regard to endings, and count the more, the fewer sentences of the
// text have them.

const STEM = 6; // letters of a word that are compared
const MOST = 3; // sentences that are shown
const LEAST = 0.15; // likeness (0 to 1) below which a sentence has little to do with what is looked for
const CLAIM = 4; // different words of a sentence that claims something
const EXCERPT = 150; // letters of a sentence that are shown beneath a claim
const RUN = 4; // words in a row by which two texts are the same there

function stems(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || [];
  return new Set(words.map((word) => word.slice(0, STEM)));
}

// The sentences of a text, each with its place (`at`, `length`) and its words.
function sentences(text) {
  return [...text.matchAll(/[^\s.!?](?:[^.!?\n]|[.!?](?=\S))*[.!?]*/gu)]
    .map(({ 0: said, index }) => ({ at: index, length: said.trimEnd().length, words: stems(said) }))
    .filter(({ words }) => words.size);
}

// A text to look in: its sentences, those that have a word, and each one's size.
function searchable(text) {
  const all = sentences(text);
  const holding = new Map();
  all.forEach(({ words }, n) => words.forEach((word) => holding.set(word, [...(holding.get(word) || []), n])));
  const weight = (word) => Math.log(1 + all.length / (holding.get(word)?.length || 1)) ** 2;
  const size = (words) => Math.sqrt([...words].reduce((sum, word) => sum + weight(word), 0));
  const sizes = all.map(({ words }) => size(words));
  const usual = [...sizes].sort((one, other) => one - other)[sizes.length >> 1];
  return { all, holding, weight, size, sizes, usual, letters: ` ${wordsOf(text).join(" ")} ` };
}

// The sentences of a searchable text that are nearest to another text, the nearest first. Those nearest to a claim share a
// good part of it; else short ones would be, by a few small words.
function nearest(text, { all, holding, weight, size, sizes, usual }, claim = false) {
  const wanted = stems(text);
  const whole = size(wanted);
  const shared = new Map();
  for (const word of wanted) for (const n of holding.get(word) || []) shared.set(n, (shared.get(n) || 0) + weight(word));
  return [...shared]
    .filter(([, sum]) => !claim || sum >= LEAST * whole ** 2)
    .map(([n, sum]) => ({ sentence: all[n], likeness: sum / (whole * Math.max(sizes[n], claim ? usual : 0) || 1), n }))
    .filter(({ likeness }) => likeness >= LEAST)
    .sort((one, other) => other.likeness - one.likeness || one.n - other.n)
    .slice(0, MOST)
    .map(({ sentence }) => sentence);
}

// Of a long sentence the part with most of these words.
function excerpt(said, wanted) {
  const flat = said.replace(/\s+/g, " ");
  if (flat.length <= EXCERPT) return flat;
  const places = [...flat.matchAll(/[\p{L}\p{N}]{3,}/gu)].filter(([word]) => wanted.has(word.toLowerCase().slice(0, STEM))).map(({ index }) => index);
  const within = (from) => places.filter((at) => at >= from && at < from + EXCERPT).length;
  const from = [0, ...places].reduce((best, at) => (within(at) > within(best) ? at : best));
  return `${from ? "… " : ""}${flat.slice(from, from + EXCERPT)}${from + EXCERPT < flat.length ? "…" : ""}`;
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
}

// Whether a searchable text has these words in a row, however they are spaced and signed.
function wordForWord(text, { letters }) {
  return letters.includes(` ${wordsOf(text).join(" ")} `);
}

// The stretches of a text, as [start, end], whose words another has in a row, too.
function repeated(text, other) {
  const before = wordsOf(other);
  const runs = new Set(before.map((_, n) => before.slice(n, n + RUN).join(" ")));
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  const known = words.map(() => false);
  words.forEach((_, n) => {
    const run = words.slice(n, n + RUN);
    if (run.length === RUN && runs.has(run.map(([word]) => word.toLowerCase()).join(" "))) known.fill(true, n, n + RUN);
  });
  const found = [];
  words.forEach(({ 0: word, index }, n) => {
    if (!known[n]) return;
    if (known[n - 1]) found.at(-1)[1] = index + word.length;
    else found.push([index, index + word.length]);
  });
  return found;
}
