// Other tabs of this browser with a judging page: their accounts, and what they have just judged.

const CHANNEL = "soundings-judging";
const ANSWER_MS = 200;

/**
 * Events: "met" (detail: the other's {page, account, queue}), and of the same queue "settled" (detail: {item})
 * and "counted" (detail: {step}).
 */
export class Tabs extends EventTarget {
  #channel = null;
  #self;

  constructor({ account, queue = null }) {
    super();
    this.page = newPage();
    this.#self = { page: this.page, account, queue };
    if (!("BroadcastChannel" in window)) return;
    this.#channel = new BroadcastChannel(CHANNEL);
    this.#channel.addEventListener("message", ({ data }) => this.#heard(data));
  }

  greet() {
    this.#tell({ kind: "who" });
  }

  /** Tell the other tabs that an item is settled here. */
  settled(item) {
    this.#tell({ kind: "settled", item });
  }

  /** Tell them of another verdict given here, or, with -1, of one less. */
  counted(step) {
    this.#tell({ kind: "counted", step });
  }

  /** Pages that answer at once, including this one. A sleeping page sends its verdicts twice, which is harmless. */
  async alive() {
    const pages = new Set([this.page]);
    const note = ({ detail }) => pages.add(detail.page);
    this.addEventListener("met", note);
    this.greet();
    await new Promise((resolve) => setTimeout(resolve, this.#channel ? ANSWER_MS : 0));
    this.removeEventListener("met", note);
    return pages;
  }

  #heard({ kind, from, ...rest }) {
    const isSameWork = from.account === this.#self.account && from.queue === this.#self.queue;
    if (kind === "who") this.#tell({ kind: "here" });
    if (kind === "who" || kind === "here") this.dispatchEvent(new CustomEvent("met", { detail: from }));
    else if (isSameWork) this.dispatchEvent(new CustomEvent(kind, { detail: rest }));
  }

  #tell(message) {
    this.#channel?.postMessage({ ...message, from: this.#self });
  }
}

function newPage() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
