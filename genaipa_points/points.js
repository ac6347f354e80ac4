// What somebody ticks of the points of an annotated answer: said, contradicted, or neither; and the value of the points' metric that follows.

const SIGN_OF = { said: "✓", contradicted: "✗" };
const TONE_OF = { said: "good", contradicted: "bad" };

PANELS.points = class extends Panel {
  // Ticks of points that were edited since are those of others.
  constructor(data, draft, desk) {
    super(data, draft, desk);
    this.letters = desk.takeLetters(data.list.length);
    // Filled in as far as others agree: nothing follows before the rest is ticked.
    this.partly = !draft.ticks && data.partly;
    this.ticked = new Map();
    const before = draft.ticks ?? data.agreed;
    if (before?.digest !== data.digest) return;
    for (const how of Object.keys(SIGN_OF)) for (const id of before[how] ?? []) this.ticked.set(id, how);
  }

  get title() {
    return "Points";
  }

  how(n) {
    return this.ticked.get(this.data.list[n].id);
  }

  // Tick a point, or untick it where it is ticked so.
  tick(n, how) {
    if (this.desk.waiting) return;
    const { id, text } = this.data.list[n];
    this.partly = false;
    if (this.how(n) === how) this.ticked.delete(id);
    else this.ticked.set(id, how);
    this.desk.change(`${this.how(n) ?? "not said"}: ${text}. ${this.reason()}`);
    // A key may be of a point that is out of sight.
    this.drawn?.[n]?.scrollIntoView({ block: "nearest" });
  }

  kept() {
    const ids = (how) => this.data.list.filter((_, n) => this.how(n) === how).map(({ id }) => id);
    return { ticks: { digest: this.data.digest, said: ids("said"), contradicted: ids("contradicted") } };
  }

  keys() {
    const press = (n) => ({ shiftKey }) => this.tick(n, shiftKey ? "contradicted" : "said");
    return Object.fromEntries(this.letters.map((letter, n) => [letter, press(n)]));
  }

  help() {
    return [this.letters.join(" "), "ticks a point as said (with Shift as contradicted) or unticks it"];
  }

  // How many points of a weight are said, and how many there are.
  count(weight) {
    const of = this.data.list.map((point, n) => (point.weight === weight ? this.how(n) : null)).filter((how) => how !== null);
    return [of.filter((how) => how === "said").length, of.length];
  }

  // By the rubric; nothing before the first tick.
  suggested(metric) {
    const follows = metric === this.data.metric && this.ticked.size && !this.partly;
    return follows ? this.data.values[this.count("vital")[0]][this.count("okay")[0]] : undefined;
  }

  // "2 of 3 vital and 0 of 1 okay said"
  reason() {
    const each = ["vital", "okay"].map((weight) => [...this.count(weight), weight]).filter(([, all]) => all);
    return `${each.map(([said, all, weight]) => `${said} of ${all} ${weight}`).join(" and ")} said`;
  }

  // A value is given as if points were said, and none is ticked.
  warning(values) {
    const untold = !this.ticked.size && values[this.data.metric] !== this.data.values[0][0];
    return untold ? `No point is ticked as said. Press again to save ${this.metric} anyway.` : "";
  }

  get metric() {
    return this.desk.data.metrics.find(({ metric }) => metric === this.data.metric).name;
  }

  // The two buttons of a point.
  buttons({ text }, n) {
    const letter = this.letters[n];
    const keys = { said: letter, contradicted: `Shift+${letter}` };
    return Object.entries(SIGN_OF).map(([how, sign]) => {
      const attributes = {
        type: "button",
        class: `tick ${how}`,
        "aria-pressed": String(this.how(n) === how),
        "aria-label": `${how}: ${text}`,
        title: letter ? `${how}: ${keys[how]}` : how,
        onclick: () => this.tick(n, how),
      };
      return make("button", attributes, letter && how === "said" ? make("kbd", {}, letter) : null, sign);
    });
  }

  // What is to be known of a point, in few words.
  about({ weight, harm, why }) {
    const words = [weight, harm && "harm if wrong"].filter(Boolean).join(", ");
    return make("small", { class: harm ? "harm" : null, title: why || null }, words);
  }

  // What the answer has to say, to be ticked as one reads it.
  draw() {
    this.drawn = this.data.list.map((point, n) => this.item(point, n));
    return [make("h2", {}, `Points of ${this.metric}: `, make("small", {}, this.reason())), make("ul", {}, ...this.drawn)];
  }

  item(point, n) {
    const sections = point.sections.flatMap((section) => [" ", this.desk.leadTo(section)]);
    const said = make("span", { class: "text", dir: "auto", onclick: () => this.tick(n, "said") }, point.text);
    const words = make("div", {}, said, " ", this.about(point), ...sections);
    return make("li", { class: this.how(n) ?? null }, ...this.buttons(point, n), words);
  }

  // Beneath their metric: what each analyst ticked of a point, and what the adjudicator does.
  rows(metric) {
    if (metric !== this.data.metric) return [];
    this.drawn = this.data.list.map((point, n) => this.row(point, n));
    return this.drawn;
  }

  row(point, n) {
    const { text, given } = point;
    const theirs = given.map((how) => make("td", { class: `given ${TONE_OF[how] ?? ""}` }, make("b", {}, SIGN_OF[how] ?? "-"), make("span", {}, how)));
    return make(
      "tr",
      { class: `point ${new Set(given).size > 1 ? "differs" : "same"}` },
      make("th", { scope: "row", dir: "auto" }, text, this.about(point)),
      ...theirs,
      make("td", {}, make("div", { class: "ticks" }, ...this.buttons(point, n))),
    );
  }
};
