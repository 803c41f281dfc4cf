import { SluiceError } from "@sluice/contract/errors";
import type { Random } from "@sluice/lib";
import type { BundleStore } from "../../../state/index.ts";

/**
 * A store whose writes fail now and then, half of them after they have been made, and whose answers come in any order.
 * `rate` 0 makes it sound.
 */
export class FaultyStore implements BundleStore {
  rate = 0;
  failures = 0;
  readonly #store: BundleStore;
  readonly #random: Random;

  constructor(store: BundleStore, random: Random) {
    this.#store = store;
    this.#random = random;
  }

  accept: BundleStore["accept"] = (bundle) => this.#perhaps(() => this.#store.accept(bundle));
  step: BundleStore["step"] = (step) => this.#perhaps(() => this.#store.step(step));
  open: BundleStore["open"] = (id, opened) => this.#perhaps(() => this.#store.open(id, opened));
  noteForwarded: BundleStore["noteForwarded"] = (notes) => this.#perhaps(() => this.#store.noteForwarded(notes));
  setFollowers: BundleStore["setFollowers"] = (id, followers) =>
    this.#perhaps(() => this.#store.setFollowers(id, followers));
  markReported: BundleStore["markReported"] = (ids) => this.#perhaps(() => this.#store.markReported(ids));
  forget: BundleStore["forget"] = (endedBefore) => this.#perhaps(() => this.#store.forget(endedBefore));
  get: BundleStore["get"] = (id) => this.#store.get(id);
  live: BundleStore["live"] = (after, limit) => this.#store.live(after, limit);
  list: BundleStore["list"] = (question) => this.#store.list(question);
  unreported: BundleStore["unreported"] = (limit) => this.#store.unreported(limit);

  async #perhaps<T>(write: () => Promise<T>): Promise<T> {
    const drawn = this.#random.next();
    if (drawn < this.rate / 2) return this.#fail();
    const result = await write();
    for (let turns = Math.floor(this.#random.next() * 3); turns > 0; turns -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return drawn < this.rate ? this.#fail() : result;
  }

  #fail(): never {
    this.failures += 1;
    throw new SluiceError("OVERLOADED");
  }
}
