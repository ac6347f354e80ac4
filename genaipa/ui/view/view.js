// Two keys on the page of `genaipa view`: to the next question and back, and from a page to the one beside it.

const rows = [...document.querySelectorAll("main section h2")];
const ENDS = { j: "next", k: "prev" };

// The question one is at: the one that these keys went to, as long as it is in sight, else the last that begins above.
function here() {
  const focused = rows.indexOf(document.activeElement);
  const top = focused < 0 ? -1 : rows[focused].getBoundingClientRect().top;
  return top >= 0 && top < innerHeight ? focused : rows.findLastIndex((row) => row.getBoundingClientRect().top < 16);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("select, textarea, input:not([type=checkbox])");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(ENDS, event.key)) return;
  const row = rows[here() + (event.key === "j" ? 1 : -1)];
  if (row) {
    row.focus({ preventScroll: true });
    row.scrollIntoView();
  } else {
    document.querySelector(`nav a[rel=${ENDS[event.key]}]`)?.click();
  }
});
