// Texts one under another, each under its title: messages, answers, notes. All are put on screen as
// text. A text may have a button that copies it (`copy`), and stands folded to its beginning where it is long (`fold`).

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers keep the clipboard from pages that came without TLS from another machine; a selected text they do copy.
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  button.classList.add("done");
  setTimeout(() => {
    button.textContent = "Copy";
    button.classList.remove("done");
  }, 2000);
}

// Cut between whole characters: half of a surrogate pair is none.
function beginning(text, length) {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function drawn({ title, text, aside, tone, copies, fold }) {
  const body = make("div", { class: "text", dir: "auto" });
  new ResizeObserver(() => reach(body, title || aside || "Text")).observe(body);
  const button = copies ? make("button", { type: "button" }, "Copy") : null;
  button?.addEventListener("click", () => copy(text, button));
  const head = make("div", { class: "head" }, make("span", { class: "title", dir: "auto" }, title || ""), make("span", { class: "aside" }, aside || ""), button);
  const node = make("section", { class: `entry ${tone || ""}` }, title || aside || button ? head : null, body);
  if (!text) {
    body.append(make("em", {}, "(empty)"));
  } else if (fold === undefined || text.length <= fold * 1.2) {
    body.append(text);
  } else {
    let open = false;
    const more = make("button", { type: "button", class: "more" });
    const turn = () => {
      body.replaceChildren(open ? text : `${beginning(text, fold)}${tone === "caption" ? "" : "…"}`);
      const whole = tone === "caption" ? "more" : `Show all ${text.length.toLocaleString("en")} characters`;
      more.textContent = open ? (tone === "caption" ? "less" : "Show less") : whole;
    };
    more.addEventListener("click", () => {
      open = !open;
      turn();
    });
    turn();
    node.append(more);
  }
  return node;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".texts");
  // What was unfolded stays so while the texts are the same.
  const fresh = JSON.stringify(data);
  if (root.drawn === fresh) return;
  root.drawn = fresh;
  root.replaceChildren(...data.texts.map(drawn));
  const arrived = data.texts.map(({ arrives }) => arrives || "").join("");
  if (arrived && arrived !== root.arrived) root.scrollIntoView({ block: "start" });
  root.arrived = arrived;
  if (!root.heard) leavesFocus(root);
  root.heard = true;
}
