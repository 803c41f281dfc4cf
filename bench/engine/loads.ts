import { join } from "node:path";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import type { LoadPlan, LoadResult, LoadSender } from "./load.ts";
import type { RunningSluice } from "./sluice.ts";

/** The load's process: signs a round, then sends it. */
export class Loads {
  readonly #child: RunningChild = spawnChild([process.execPath, join(import.meta.dir, "load.ts")]);
  readonly #sluice: Pick<RunningSluice, "rpc">;
  #first = 0;

  constructor(sluice: Pick<RunningSluice, "rpc">) {
    this.#sluice = sluice;
  }

  async prepare(port: number, senders: readonly LoadSender[], seconds: number): Promise<void> {
    const { value } = await this.#sluice.rpc<{ value: { blockhash: string } }>("getLatestBlockhash", {
      commitment: "confirmed",
    });
    const plan: LoadPlan = { port, senders, seconds, blockhash: value.blockhash, first: this.#first };
    this.#first += senders.reduce((sum, { perSecond }) => sum + Math.floor(perSecond * seconds), 0);
    this.#child.write(`${JSON.stringify(plan)}\n`);
    const line = await this.#child.line();
    if (line !== "ready") throw new Error(line);
  }

  async run(): Promise<LoadResult> {
    this.#child.write("go\n");
    return JSON.parse(await this.#child.line()) as LoadResult;
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}
