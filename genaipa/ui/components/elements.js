// Stands before every component's own script: an element with its attributes, listeners (`onclick: …`) and children. Text
// goes in as text, whatever is in it. An attribute that is true has no value; one that is false or null is left out.
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
