// What an analyst ticks of the points of an annotated answer: said, contradicted, or neither; and the value of the points' metric that follows.

const SIGN_OF = { said: "✓", contradicted: "✗" };
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

class Ticks {
  // `shown` are the points on screen (`ui/points.py`), if any; `before` is what was ticked of them. Ticks of points that were edited since are
  // those of others. A point has a letter that does nothing else.
  constructor(shown, before, bound) {
    this.list = shown?.list ?? [];
    this.metric = shown?.metric;
    this.digest = shown?.digest;
    this.values = shown?.values;
    // Filled in as far as others agree: nothing follows before the rest is ticked.
    this.partly = shown?.partly;
    const taken = Object.values(bound);
    this.letters = LETTERS.filter((letter) => !taken.includes(letter)).slice(0, this.list.length);
    this.ticked = new Map();
    if (before?.digest !== this.digest) return;
    for (const how of Object.keys(SIGN_OF)) for (const id of before?.[how] ?? []) this.ticked.set(id, how);
  }

  how(n) {
    return this.ticked.get(this.list[n].id);
  }

  // Tick a point, or untick it where it is ticked so.
  tick(n, how) {
    const { id } = this.list[n];
    this.partly = false;
    if (this.how(n) === how) this.ticked.delete(id);
    else this.ticked.set(id, how);
  }

  // As they are kept; undefined where no points are on screen.
  kept() {
    if (!this.digest) return undefined;
    const ids = (how) => this.list.filter((_, n) => this.how(n) === how).map(({ id }) => id);
    return { digest: this.digest, said: ids("said"), contradicted: ids("contradicted") };
  }

  // How many points of a weight are said, and how many there are.
  count(weight) {
    const of = this.list.map((point, n) => (point.weight === weight ? this.how(n) : null)).filter((how) => how !== null);
    return [of.filter((how) => how === "said").length, of.length];
  }

  // The key of the value that follows by the rubric; undefined before the first tick.
  suggested() {
    return this.ticked.size && !this.partly ? this.values[this.count("vital")[0]][this.count("okay")[0]] : undefined;
  }

  // Whether a value is given as if points were said, and none is ticked.
  untold(key) {
    return Boolean(this.digest) && !this.ticked.size && key !== this.values[0][0];
  }

  // "2 of 3 vital and 0 of 1 okay said"
  sum() {
    const each = ["vital", "okay"].map((weight) => [...this.count(weight), weight]).filter(([, all]) => all);
    return `${each.map(([said, all, weight]) => `${said} of ${all} ${weight}`).join(" and ")} said`;
  }

  // The two buttons of a point.
  buttons(n, tick) {
    const { text } = this.list[n];
    const letter = this.letters[n];
    const keys = { said: letter, contradicted: `Shift+${letter}` };
    return Object.entries(SIGN_OF).map(([how, sign]) => {
      const chosen = this.how(n) === how;
      const attributes = {
        type: "button",
        class: `tick ${how}`,
        "aria-pressed": String(chosen),
        "aria-label": `${how}: ${text}`,
        title: letter ? `${how}: ${keys[how]}` : how,
        onclick: () => tick(n, how),
      };
      return make("button", attributes, letter && how === "said" ? make("kbd", {}, letter) : null, sign);
    });
  }

  // What is to be known of a point, in few words.
  about(n) {
    const { weight, harm, why } = this.list[n];
    const words = [weight, harm && "harm if wrong"].filter(Boolean).join(", ");
    return make("small", { class: harm ? "harm" : null, title: why || null }, words);
  }

  // Letter → what it does.
  keys(tick) {
    return Object.fromEntries(this.letters.map((letter, n) => [letter, ({ shiftKey }) => tick(n, shiftKey ? "contradicted" : "said")]));
  }
}
