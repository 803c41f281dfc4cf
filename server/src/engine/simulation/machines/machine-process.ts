import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock, Random } from "@sluice/lib";
import type { ByteReader } from "@sluice/wire/bytes";
import { FrameWriter } from "@sluice/wire/frames";
import { type SupervisedChild, superviseChild } from "../../../processes/index.ts";
import type { AccountEntry } from "../accounts/account-entry.ts";
import { FrameStream } from "../protocol/frame-stream.ts";
import { FRAME } from "../protocol/messages.ts";
import type { Job, Machine } from "./job.ts";
import { readAnswer, writeAccounts, writeJobs } from "./simulator-codec.ts";

const ENTRY = fileURLToPath(new URL("../child/main.ts", import.meta.url));
const READY_MS_MAX = 20_000;
/** How long it may take to end when it was asked to. */
const STOP_MS_MAX = 2_000;

/**
 * LiteSVM allocates some fifty small pieces for a transaction, and the runtime gives them back a thousand transactions at a
 * time: glibc keeps seven of each size at hand and searches for the rest, which is 1.5 to 2 of the 8.5 microseconds of CPU
 * that a transfer takes. Other C libraries pass this over.
 */
export const allocator = { GLIBC_TUNABLES: "glibc.malloc.tcache_count=60000" } as const;

export interface MachineLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface MachineDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: MachineLog;
  /** Accounts that every bundle runs on. */
  readonly always: readonly AccountEntry[];
  readonly tipAccounts: readonly Uint8Array[];
  /** Called when a frame was answered or the machine has come up: it can take more. */
  readonly onRoom: () => void;
  /** Called with what it had when it ended on its own, frame by frame. */
  readonly onEnded: (machine: MachineProcess, lost: readonly (readonly Job[])[]) => void;
}

interface Flight {
  readonly jobs: readonly Job[];
  /** For each job the slot that its accounts were of when it was sent. */
  readonly slots: readonly bigint[];
  readonly sentAt: number;
}

/**
 * One machine's process through all its lives. It knows which accounts, in which form, the present life has been told of,
 * and sends those that are new before the bundles that need them.
 */
export class MachineProcess implements Machine, AsyncDisposable {
  readonly #deps: MachineDependencies;
  readonly #path: string;
  readonly #writer = new FrameWriter();
  #child: SupervisedChild<true> | null = null;
  #listener: { stop(closeActive?: boolean): void } | null = null;
  #stream: FrameStream | null = null;
  #pid = 0;
  /** The version of the account that the present life has, by handle. */
  #told: number[] = [];
  #forgotten: number[] = [];
  #flights: Flight[] = [];
  #isClosed = false;

  private constructor(path: string, deps: MachineDependencies) {
    this.#path = path;
    this.#deps = deps;
  }

  /** Starts it in a directory that nobody else may enter; rejects when its process does not start. */
  static async start(
    options: { readonly directory: string; readonly number: number },
    deps: MachineDependencies,
  ): Promise<MachineProcess> {
    const machine = new MachineProcess(join(options.directory, `${options.number}.sock`), deps);
    try {
      await machine.#start(options.number);
    } catch (fault) {
      await machine[Symbol.asyncDispose]();
      throw fault;
    }
    return machine;
  }

  async #start(number: number): Promise<void> {
    this.#listen();
    const { clock, random, log } = this.#deps;
    this.#child = await superviseChild<true>(
      {
        name: `simulation-${number}`,
        command: [process.execPath, ENTRY, this.#path],
        env: { TZ: "UTC", LC_ALL: "C", ...allocator },
        readReady: (line) => (line === '{"ready":true}' ? true : null),
        readyTimeoutMs: READY_MS_MAX,
        stopTimeoutMs: STOP_MS_MAX,
      },
      { clock, random, log },
    );
  }

  #listen(): void {
    this.#listener = Bun.listen<FrameStream>({
      unix: this.#path,
      socket: {
        open: (socket) => {
          socket.data = new FrameStream(socket);
        },
        data: (socket, chunk) => this.#receive(socket.data, chunk),
        drain: (socket) => socket.data.drain(),
        close: (socket) => this.#lost(socket.data),
        error: (socket) => this.#lost(socket.data),
      },
    });
  }

  get isUp(): boolean {
    return this.#stream !== null;
  }

  get pid(): number | null {
    return this.isUp ? this.#pid : null;
  }

  get frames(): number {
    return this.#flights.length;
  }

  get bundles(): number {
    return this.#flights.reduce((count, { jobs }) => count + jobs.length, 0);
  }

  get hasSuspect(): boolean {
    return this.#flights.some(({ jobs }) => jobs[0]?.isSuspect === true);
  }

  #receive(stream: FrameStream, chunk: Uint8Array): void {
    try {
      for (const { kind, reader } of stream.receive(chunk)) {
        if (kind === FRAME.hello) this.#cameUp(stream, reader.u32());
        else if (stream === this.#stream) this.#answered(reader);
      }
    } catch (fault) {
      this.#deps.log.warn({ fault: String(fault), pid: this.#pid }, "a simulation's process answers nonsense");
      this.kill();
    }
  }

  #cameUp(stream: FrameStream, pid: number): void {
    this.#lost(this.#stream);
    this.#stream = stream;
    this.#pid = pid;
    this.#told = [];
    this.#forgotten = [];
    const { tipAccounts } = this.#deps;
    this.#writer.begin(FRAME.configure).u8(tipAccounts.length);
    for (const key of tipAccounts) this.#writer.bytes(key);
    stream.send(this.#writer.end().take());
    this.#deps.onRoom();
  }

  #answered(reader: ByteReader): void {
    const flight = this.#flights[0];
    if (flight === undefined || reader.u16() !== flight.jobs.length) throw new RangeError("not what was asked");
    const answers = flight.slots.map((slot) => readAnswer(reader, slot));
    this.#flights.shift();
    flight.jobs.forEach((job, index) => {
      const answer = answers[index];
      if (answer !== undefined) job.settle(answer);
    });
    this.#deps.onRoom();
  }

  #lost(stream: FrameStream | null): void {
    if (stream === null || stream !== this.#stream) return;
    this.#stream = null;
    const lost = this.#flights.splice(0).map(({ jobs }) => jobs);
    if (!this.#isClosed) this.#deps.onEnded(this, lost);
    else for (const job of lost.flat()) job.settle({ kind: "unavailable", cause: "closed" });
  }

  /** Accounts that it has not been told of yet go before the bundles. */
  run(jobs: readonly Job[]): void {
    const news: AccountEntry[] = [];
    const tell = (entry: AccountEntry): void => {
      if (this.#told[entry.handle] === entry.version) return;
      this.#told[entry.handle] = entry.version;
      news.push(entry);
    };
    for (const entry of this.#deps.always) tell(entry);
    for (const { bundle } of jobs) {
      for (const entry of bundle.supports) tell(entry);
      for (const entry of bundle.writes) tell(entry);
      for (const entry of bundle.reads) tell(entry);
    }
    const writer = this.#writer;
    if (this.#forgotten.length > 0) {
      writer.begin(FRAME.forget).u32(this.#forgotten.length);
      for (const handle of this.#forgotten.splice(0)) writer.u32(handle);
      writer.end();
    }
    if (news.length > 0) writeAccounts(writer, news);
    writeJobs(writer, jobs);
    const slots = jobs.map(({ bundle }) => bundle.slot);
    this.#flights.push({ jobs, slots, sentAt: this.#deps.clock.monotonic() });
    this.#stream?.send(writer.take());
  }

  /** A handle is about to be another account's. */
  forget(handle: number): void {
    if (this.#told[handle] === undefined) return;
    delete this.#told[handle];
    this.#forgotten.push(handle);
  }

  closeBlock(number: number): void {
    this.#stream?.send(this.#writer.begin(FRAME.closeBlock).u32(number).end().take());
  }

  isHanging(waitMsMax: number): boolean {
    const oldest = this.#flights[0];
    return oldest !== undefined && this.#deps.clock.monotonic() - oldest.sentAt > waitMsMax;
  }

  /** Ends this life; another begins. */
  kill(): void {
    if (!this.isUp) return;
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#child?.[Symbol.asyncDispose]();
    this.#lost(this.#stream);
    this.#listener?.stop(true);
    rmSync(this.#path, { force: true });
  }
}
