import type { Clock } from "@sluice/lib";
import type { CursorStore } from "../../state/index.ts";
import type { TipFloorFigures } from "../model/service.ts";
import { TipFloor, type TippedBlock } from "./index.ts";

const name = "engine-tip-floor";
/** How often the floor is written down; what happened since is lost with the process, and is made up for by new blocks. */
const writeMs = 5_000;

export interface TipFloorStoreDependencies {
  readonly values: CursorStore;
  readonly clock: Clock;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** The tip floor, kept over restarts. */
export class TipFloorStore implements AsyncDisposable {
  readonly #dependencies: TipFloorStoreDependencies;
  readonly #floor: TipFloor;
  readonly #timer: ReturnType<typeof setInterval>;
  #written: string;

  private constructor(remembered: string | null, dependencies: TipFloorStoreDependencies) {
    this.#dependencies = dependencies;
    this.#floor = new TipFloor(remembered);
    this.#written = remembered ?? "";
    this.#timer = setInterval(() => void this.#write(), writeMs);
    this.#timer.unref();
  }

  static async open(dependencies: TipFloorStoreDependencies): Promise<TipFloorStore> {
    return new TipFloorStore(await dependencies.values.get(name), dependencies);
  }

  get floor(): bigint {
    return this.#floor.floor;
  }

  figures(): TipFloorFigures {
    return this.#floor.figures(this.#dependencies.clock.now());
  }

  observe(block: TippedBlock): void {
    this.#floor.observe(block, this.#dependencies.clock.now());
  }

  async #write(): Promise<void> {
    const text = this.#floor.write(this.#dependencies.clock.now());
    if (text === this.#written) return;
    try {
      await this.#dependencies.values.set(name, text);
      this.#written = text;
    } catch (error) {
      this.#dependencies.retryableError("tip floor", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }
}
