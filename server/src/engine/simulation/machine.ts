import { type Clock, invariant, type Log } from "@sluice/lib";
import { type Launch, MachineProcess } from "@sluice/svm";
import {
  bundleMachineEntry,
  bundleMachineEnvironment,
  frameKinds,
  type MachineBundle,
  readOutcome,
  writeBundle,
  writeUpdates,
} from "@sluice/svm/bundles";
import type { ByteReader } from "@sluice/wire/bytes";
import { FrameWriter } from "@sluice/wire/frames";
import type { AccountEntry } from "./account-cache.ts";
import type { Job, Machine, MachineAnswer } from "./dispatcher.ts";

export interface SimulationMachineDependencies {
  readonly launch: Launch;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Pick<Log, "warn">;
  /** Accounts that every bundle runs on. */
  readonly always: readonly AccountEntry[];
  readonly tipAccounts: readonly Uint8Array[];
  /** Called when the machine can take more: a frame was answered, or a life began. */
  readonly onRoom: () => void;
  /** Called when a life ends, with the jobs that it had, frame by frame. */
  readonly onLost: (machine: SimulationMachine, frames: readonly (readonly Job[])[]) => void;
  /** Called each time that the process ends on its own or is killed, with the reason. */
  readonly onExit: (reason: string) => void;
}

/** Jobs that were sent as one frame, and for each the slot of its accounts at that moment. */
interface Frame {
  readonly jobs: readonly Job[];
  readonly slots: readonly bigint[];
}

/**
 * One machine through all the lives of its process. It knows the version of each account that the present life has, and
 * sends newer ones before the bundles that run on them.
 */
export class SimulationMachine implements Machine, AsyncDisposable {
  readonly #dependencies: SimulationMachineDependencies;
  readonly #writer = new FrameWriter();
  #process: MachineProcess<Frame> | null = null;
  /** The version of each account that the present life has, by handle. */
  #sentVersions: number[] = [];
  #freedHandles: number[] = [];
  #isClosed = false;

  private constructor(dependencies: SimulationMachineDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {Error} when its process does not start. */
  static async start(number: number, dependencies: SimulationMachineDependencies): Promise<SimulationMachine> {
    const machine = new SimulationMachine(dependencies);
    const { launch, clock, log, onRoom, onExit } = dependencies;
    machine.#process = await MachineProcess.start<Frame>(
      { name: `simulation-${number}`, entry: bundleMachineEntry, env: bundleMachineEnvironment },
      {
        ...{ launch, clock, log, onRoom, onExit },
        onUp: (send) => send(machine.#configuration()),
        onAnswer: (frame, reader) => answer(frame, reader),
        onLost: (frames) => machine.#lost(frames),
      },
    );
    return machine;
  }

  get isUp(): boolean {
    return this.#process?.isUp === true;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get frames(): number {
    return this.#frames.length;
  }

  get bundles(): number {
    return this.#frames.reduce((count, { jobs }) => count + jobs.length, 0);
  }

  get hasSuspect(): boolean {
    return this.#frames.some(({ jobs }) => jobs[0]?.isSuspect === true);
  }

  get #frames(): readonly Frame[] {
    return this.#process?.requests ?? [];
  }

  /** The first frame of a life, which has no accounts yet. */
  #configuration(): Uint8Array {
    this.#sentVersions = [];
    this.#freedHandles = [];
    const { tipAccounts } = this.#dependencies;
    this.#writer.begin(frameKinds.configure).u8(tipAccounts.length);
    for (const key of tipAccounts) this.#writer.bytes(key);
    return this.#writer.end().take();
  }

  #lost(frames: readonly Frame[]): void {
    const lost = frames.map(({ jobs }) => jobs);
    if (!this.#isClosed) this.#dependencies.onLost(this, lost);
    else for (const job of lost.flat()) job.settle({ kind: "unavailable", cause: "closed" });
  }

  /** Accounts that the present life does not have in their newest version go before the bundles. */
  run(jobs: readonly Job[]): void {
    const updates: AccountEntry[] = [];
    const include = (entry: AccountEntry): void => {
      if (this.#sentVersions[entry.handle] === entry.version) return;
      this.#sentVersions[entry.handle] = entry.version;
      updates.push(entry);
    };
    for (const entry of this.#dependencies.always) include(entry);
    for (const { bundle } of jobs) {
      for (const entry of bundle.supports) include(entry);
      for (const entry of bundle.writes) include(entry);
      for (const entry of bundle.reads) include(entry);
    }
    const writer = this.#writer;
    if (this.#freedHandles.length > 0) {
      writer.begin(frameKinds.forget).u32(this.#freedHandles.length);
      for (const handle of this.#freedHandles.splice(0)) writer.u32(handle);
      writer.end();
    }
    writeUpdates(writer, updates);
    writeJobs(writer, jobs);
    this.#process?.request(writer.take(), { jobs, slots: jobs.map(({ bundle }) => bundle.slot) });
  }

  /** Called before a handle is given to another account. */
  forget(handle: number): void {
    if (this.#sentVersions[handle] === undefined) return;
    delete this.#sentVersions[handle];
    this.#freedHandles.push(handle);
  }

  closeBlock(number: number): void {
    this.#process?.send(this.#writer.begin(frameKinds.closeBlock).u32(number).end().take());
  }

  isHanging(waitMsMax: number): boolean {
    return this.#process?.isHanging(waitMsMax) === true;
  }

  kill(): void {
    this.#process?.kill("hung");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#process?.[Symbol.asyncDispose]();
  }
}

const handlesOf = (entries: readonly AccountEntry[]): number[] => entries.map(({ handle }) => handle);

function machineBundle({ bundle, block, keep, verify }: Job): MachineBundle {
  return {
    ...{ verify, keep, deploys: bundle.mayDeploy, block: block?.number ?? null, tipMask: bundle.tipMask },
    writes: handlesOf(bundle.writes),
    reads: handlesOf(bundle.reads),
    transactions: bundle.transactions.map(({ transaction: { bytes, message }, lifetimeStart, nonce }) => ({
      ...{ bytes, lifetimeStart, isLegacy: message.version === "legacy", nonce: nonce?.handle ?? null },
    })),
  };
}

/** Writes jobs as one frame, which is answered. */
export function writeJobs(writer: FrameWriter, jobs: readonly Job[]): void {
  writer.begin(frameKinds.run).u16(jobs.length);
  for (const job of jobs) writeBundle(writer, machineBundle(job));
  writer.end();
}

function readAnswer(reader: ByteReader, slot: bigint): MachineAnswer {
  const outcome = readOutcome(reader);
  if (outcome.kind !== "succeeded") return outcome;
  return { kind: "succeeded", tip: outcome.tip, units: Number(outcome.units), slot };
}

/** Reads a whole answer before any job of it is settled. */
function answer({ jobs, slots }: Frame, reader: ByteReader): void {
  // An outcome that is given to the wrong bundle would bill a tip that was never paid.
  invariant(reader.u16() === jobs.length, "a frame of bundles is answered by as many outcomes");
  const answers = slots.map((slot) => readAnswer(reader, slot));
  for (const [index, job] of jobs.entries()) {
    const found = answers[index];
    if (found !== undefined) job.settle(found);
  }
}
