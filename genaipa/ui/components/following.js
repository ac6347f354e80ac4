// The answer that comes next is in the browser before it is wanted: saving shows it at once, and the desk keeps the score meanwhile.
//
// Until the desk has answered, nothing else goes out: what is typed on the next answer stays in the browser, and what is
// decided there waits. If the score was not kept, its answer comes back, with the reason.

class Following extends Recall {
  // What the pad shows for a turn, once all of it is here: its answer and that one's document come by themselves.
  parts(turn, answer) {
    const documents = ["document", "document beside"].map((name) => this.feeds[name]?.data);
    const document = turn && answer?.answer === turn.of && documents.find((data) => data?.digest === answer.document);
    return document ? { document, data: { ...this.rubric, ...answer, ...turn } } : null;
  }

  // Show the parts as soon as they belong together: each comes by itself.
  take(feeds) {
    this.feeds = feeds;
    const turn = feeds.turn?.data;
    if (turn) this.past = turn.past;
    const parts = this.parts(turn, feeds.answer?.data);
    if (!parts || !this.root.isConnected) return;
    this.component = feeds.turn;
    if (!this.saving) this.showParts(parts);
    else if (turn.of === this.data.answer) this.saved(parts);
    else if (turn.id !== this.saving.id || turn.away || turn.answered === this.saving.number) this.comeAway(parts);
  }

  showParts({ document, data }) {
    this.policy = document;
    this.showTurn(data);
  }

  act(name) {
    if (this.saving) {
      this.wait(() => this.act(name));
      return;
    }
    super.act(name);
    if (name === "save" && this.waiting === "save") this.goAhead();
  }

  // Go on to the next answer before the desk has answered, if it is here as it is after whatever was decided before.
  goAhead() {
    const next = this.feeds.following?.data;
    const fresh = next?.turn.settled === this.data.id && (this.sent === 1 || next.turn.answered === this.sent - 1);
    const parts = fresh && this.parts(next.turn, next.answer);
    if (!parts) return;
    this.saving = { id: this.data.id, number: this.sent, data: this.data, sent: this.acted };
    this.screen.classList.add("saving");
    this.showParts(parts);
    this.awaitDesk();
  }

  awaitDesk() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      if (!this.saving || !this.root.isConnected) return;
      this.say("The previous score is not saved yet: the desk is busy, or another program is using its scores. It is sent again automatically.", "bad");
      this.sent += 1;
      this.saving.number = this.sent;
      this.component.setTriggerValue("act", { ...this.saving.sent, number: this.sent });
      this.awaitDesk();
    }, SILENCE);
  }

  // What is decided meanwhile is done once the desk has answered.
  wait(act) {
    this.later = act;
    this.say("The previous score is being saved …");
  }

  // The desk has answered: what was being saved.
  answered() {
    const { saving } = this;
    this.saving = this.later = null;
    this.screen.classList.remove("saving");
    clearTimeout(this.silence);
    return saving;
  }

  // The desk has kept the score and is at the answer that is on screen.
  saved(parts) {
    const { later } = this;
    const saving = this.answered();
    this.forget(saving.data);
    this.data = { ...this.data, id: parts.data.id };
    this.showParts(parts);
    if (!parts.data.trouble) this.say(parts.data.message || "");
    if (this.dirty) this.sendDraft();
    later?.();
  }

  // The desk is at another answer: the score was not kept, or somebody else has the next answer by now.
  comeAway(parts) {
    const saving = this.answered();
    if (parts.data.settled === saving.id) this.forget(saving.data);
    this.showParts(parts);
    if (parts.data.settled === saving.id) this.say("Saved. Somebody else is now scoring the answer that was here; this is a different answer.");
  }

  sendDraft() {
    if (this.saving) this.stopDraft();
    else super.sendDraft();
  }
}
