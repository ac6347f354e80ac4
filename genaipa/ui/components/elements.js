// Stands before every component's own script.

// An element with its attributes, listeners (`onclick: …`) and children. Text goes in as text, whatever is in it. An
// attribute that is true has no value; one that is false or null is left out.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

// Give a node other children; what has the focus keeps it, in whatever comes to its place.
function fill(node, ...children) {
  const places = () => [...node.querySelectorAll("a, button, input, textarea, select, [tabindex]")];
  const at = places().indexOf(node.getRootNode().activeElement);
  node.replaceChildren(...children.filter((child) => child != null));
  if (at >= 0) places()[at]?.focus({ preventScroll: true });
}

const BY_PLACE = {
  ...Object.fromEntries([..."123456789"].map((digit) => [`Digit${digit}`, digit])),
  ...Object.fromEntries([..."abcdefghijklmnopqrstuvwxyz"].map((letter) => [`Key${letter.toUpperCase()}`, letter])),
  Slash: "/", Period: ".", Comma: ",",
};

// The key that is meant: "b" with Caps Lock or Shift too, and by its place on keyboards whose letters or digits are others.
function pressed(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const other = !/^[a-z0-9/.,;+#?-]$/.test(key) && event.key.length === 1 && (!event.shiftKey || /^Key/.test(event.code));
  return (other && BY_PLACE[event.code]) || key;
}

// A click on a button leaves the focus where it was: it would swallow the next Enter, which belongs to the page.
function leavesFocus(root) {
  root.addEventListener("mousedown", (event) => {
    if (event.target instanceof Element && event.target.closest("button")) event.preventDefault();
  });
}

// What has more than it shows is reached by Tab, and the keys of the browser scroll it; what shows all of it is no stop. Without
// a name its own role stays: a title or a list is heard as such.
function reach(node, name) {
  const scrolls = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight;
  for (const [attribute, value] of Object.entries({ tabindex: "0", ...(name && { role: "group", "aria-label": name }) })) {
    if (scrolls) node.setAttribute(attribute, value);
    else node.removeAttribute(attribute);
  }
}

// Whether Enter belongs to what has the focus: a link or a button is pressed by it, as everywhere.
function takesEnter(target) {
  return target instanceof Element && target.closest("a, button, summary, [role=button], [role=option], [role=tab]") !== null;
}
