// Long work that shows progress and can be cancelled.
import { follow, cancelled } from "./api.js";
import { calm, complain } from "./notice.js";

/** Work of one page: its buttons, and where it says what is wrong. */
export class Work {
  constructor({ begin, cancel, error }) {
    Object.assign(this, { begin, cancel, error, running: null });
    cancel.addEventListener("click", () => this.running?.abort());
  }

  /** Sends a request and hears events. Returns the answer, or null if it was refused or cancelled: `left()` then runs if it was cancelled. */
  async run(path, body, hear, left) {
    this.running?.abort();
    const own = this.running = new AbortController();
    calm(this.error);
    this.cancel.disabled = false;
    try {
      return await follow(path, body, own.signal, hear);
    } catch (error) {
      if (this.running === own && cancelled(error)) left();
      complain(this.error, error);
      return null;
    } finally {
      if (this.running === own) {
        if (document.activeElement === this.cancel) this.begin.focus();
        this.cancel.disabled = true;
        this.running = null;
      }
    }
  }
}
