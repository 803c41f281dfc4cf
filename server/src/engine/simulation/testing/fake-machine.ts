import type { Job, Machine, MachineAnswer } from "../dispatcher.ts";
import { PreparedBundle } from "../prepared-bundle.ts";

/** A machine that a test answers for, frame by frame. */
export class FakeMachine implements Machine {
  isUp = true;
  readonly pid = 1;
  readonly hasFrames: (readonly Job[])[] = [];
  readonly closed: number[] = [];
  kills = 0;
  hangs = false;

  get frames(): number {
    return this.hasFrames.length;
  }

  get bundles(): number {
    return this.hasFrames.flat().length;
  }

  get hasSuspect(): boolean {
    return this.hasFrames.some(([first]) => first?.isSuspect === true);
  }

  run(jobs: readonly Job[]): void {
    this.hasFrames.push(jobs);
  }

  closeBlock(number: number): void {
    this.closed.push(number);
  }

  isHanging(): boolean {
    return this.hangs;
  }

  kill(): void {
    this.kills += 1;
  }

  /** The ids of its bundles, frame by frame. */
  get holds(): string[][] {
    return this.hasFrames.map((jobs) => jobs.map(({ bundle }) => bundle.id));
  }

  /** Answers the oldest frame. */
  answer(sent: MachineAnswer = { kind: "succeeded", tip: 1n, units: 1, slot: 1n }): void {
    for (const job of this.hasFrames.shift() ?? []) job.settle(sent);
  }

  /** Ends; returns the frames that it had. */
  end(): (readonly Job[])[] {
    this.isUp = false;
    return this.hasFrames.splice(0);
  }
}

/** A bundle without transactions. */
export function emptyBundle(id: string, unitLimit = 200_000): PreparedBundle {
  return new PreparedBundle({
    ...{ id, transactions: [], writes: [], reads: [], tables: [], code: [] },
    ...{ tipMask: 0, fees: 0n, fixedCostUnits: 0, unitLimit, mayDeploy: false },
  });
}
