// Which words of a text another has in a row, too.

const RUN = 4; // words in a row by which two texts are the same there

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
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
