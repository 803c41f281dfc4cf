import type { BundleState } from "@sluice/contract/engine";
import type { BundleRecord } from "../model/bundle.ts";

type Listener = (record: BundleRecord, before: BundleState | null) => void;

/** Who is told of steps. One that fails keeps nobody else from being told. */
export class Listeners {
  readonly #caught: (error: unknown) => void;
  readonly #listeners = new Set<Listener>();

  constructor(caught: (error: unknown) => void) {
    this.#caught = caught;
  }

  add(listener: Listener): Disposable {
    // A wrapper of its own, so that a listener given twice is told twice and let go one at a time.
    const entry: Listener = (record, before) => listener(record, before);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  tell(record: BundleRecord, before: BundleState | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(record, before);
      } catch (error) {
        this.#caught(error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
