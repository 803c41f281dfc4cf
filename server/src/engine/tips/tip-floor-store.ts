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
  readonly heldUp: (what: string, fault: unknown) => void;
}

/** The tip floor, kept over restarts. */
export class TipFloorStore implements AsyncDisposable {
  readonly #deps: TipFloorStoreDependencies;
  readonly #floor: TipFloor;
  readonly #timer: ReturnType<typeof setInterval>;
  #written: string;

  private constructor(remembered: string | null, dependencies: TipFloorStoreDependencies) {
    this.#deps = dependencies;
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
    return this.#floor.figures(this.#deps.clock.now());
  }

  observe(block: TippedBlock): void {
    this.#floor.observe(block, this.#deps.clock.now());
  }

  async #write(): Promise<void> {
    const text = this.#floor.write(this.#deps.clock.now());
    if (text === this.#written) return;
    try {
      await this.#deps.values.set(name, text);
      this.#written = text;
    } catch (fault) {
      this.#deps.heldUp("tip floor", fault);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }
}
