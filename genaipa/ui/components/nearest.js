// Which sentences of a text have most words in common with another: a hint where to look, and no verdict.
//
// Words are compared by their first letters, without regard to endings, and count the more, the fewer sentences of the
// text have them.

const STEM = 6; // letters of a word that are compared
const MOST = 3; // sentences that are shown
const LEAST = 0.15; // likeness (0 to 1) below which a sentence has little to do with what is looked for

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

// Of these sentences, those nearest to a text, the nearest first.
function nearest(text, all) {
  const holding = new Map();
  for (const { words } of all) for (const word of words) holding.set(word, (holding.get(word) || 0) + 1);
  const weight = (word) => Math.log(1 + all.length / (holding.get(word) || 1)) ** 2;
  const size = (words) => Math.sqrt([...words].reduce((sum, word) => sum + weight(word), 0));
  const wanted = stems(text);
  const whole = size(wanted);
  return all
    .map((sentence) => {
      const shared = [...sentence.words].filter((word) => wanted.has(word));
      return { sentence, likeness: size(shared) ** 2 / (whole * size(sentence.words) || 1) };
    })
    .filter(({ likeness }) => likeness >= LEAST)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, MOST)
    .map(({ sentence }) => sentence);
}
