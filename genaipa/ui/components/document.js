// A document with its marks: what is annotated, cited and quoted in it, and what the system was shown of it.

// The text cut into pieces of these lengths, each with the styles and marks that come after its length.
function cut(text, lengths) {
  let at = 0;
  return lengths.map(([length, ...marked]) => [text.slice(at, (at += length)), ...marked]);
}

// The legend of what the system was shown, or cites; null for an answer without passages.
function shownMark(retrieved) {
  if (!retrieved) return null;
  const [here, , all, cited] = retrieved.split(" ");
  const what = cited ? "What the system cites in addition to its text" : "What the system was shown before it answered";
  const title = `${what}: ${here} of its ${all} passages ${here === "1" ? "is" : "are"} in this document.`;
  return make("mark", { class: "shown", title }, `system ${cited ? "cites" : "saw"} ${here} of ${all}`);
}

// Beside the lines that the annotated answer rests on, those that the answer cites or its system was shown, and a pinned range, thin bars. All are in a box of their
// own, since the browser lays out the whole document anew where something is put between its words.
function drawBars(pane, pinned = null) {
  const bars = pane.querySelector(".bars") ?? pane.appendChild(make("span", { class: "bars" }));
  const { top } = pane.getBoundingClientRect();
  const from = pane.scrollTop - top;
  // All are measured before any is put in.
  const boxes = ["annotated", "cited", "shown"].flatMap((style) =>
    [...pane.querySelectorAll(`mark.${style}`)].map((passage) => [style, passage.getBoundingClientRect()]),
  );
  if (pinned) boxes.push(["pinned", pinned.getBoundingClientRect()]);
  bars.replaceChildren(
    ...boxes.map(([style, box]) => make("span", { class: `along ${style}`, style: `top: ${box.top + from}px; height: ${box.height}px` })),
  );
}
