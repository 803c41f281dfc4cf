import type { Clock } from "@sluice/lib";
import type { TipFloorFigures } from "./desk.ts";
import type { ValueStore } from "./settings.ts";
import { TipFloor, type TippedBlock } from "./tips/index.ts";

const name = "engine-tip-floor";
/** How often the floor is written down; what happened since is lost with the process, and is made up for by new blocks. */
const writeMs = 5_000;

export interface TipKeeperDependencies {
  readonly values: ValueStore;
  readonly clock: Clock;
  readonly heldUp: (what: string, fault: unknown) => void;
}

/** The tip floor, kept over restarts. */
export class TipKeeper implements AsyncDisposable {
  readonly #deps: TipKeeperDependencies;
  readonly #floor: TipFloor;
  readonly #timer: ReturnType<typeof setInterval>;
  #written: string;

  private constructor(remembered: string | null, dependencies: TipKeeperDependencies) {
    this.#deps = dependencies;
    this.#floor = new TipFloor(remembered);
    this.#written = remembered ?? "";
    this.#timer = setInterval(() => void this.#write(), writeMs);
    this.#timer.unref();
  }

  static async open(dependencies: TipKeeperDependencies): Promise<TipKeeper> {
    return new TipKeeper(await dependencies.values.get(name), dependencies);
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
