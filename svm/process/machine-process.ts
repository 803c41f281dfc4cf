import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, invariant, type Log, type MonotonicMs } from "@sluice/lib";
import type { ByteReader } from "@sluice/wire/bytes";

import { FrameStream, helloKind, readyLine } from "./frame-stream.ts";
import type { Launch, ProcessExit } from "./launcher.ts";

const readyTimeoutMs = 20_000;
const stopTimeoutMs = 2_000;

export interface MachineProcessOptions {
  /** For logs and metrics. */
  readonly name: string;
  /** Path of the module that the child runs. */
  readonly entry: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface MachineProcessDependencies<Request> {
  readonly launch: Launch;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Pick<Log, "warn">;
  /** Called when a life begins, which has received nothing; `send` sends it frames that are not answered. */
  readonly onUp: (send: (frames: Uint8Array) => void) => void;
  /** Reads the answer to the oldest request. What it throws ends the life. */
  readonly onAnswer: (request: Request, reader: ByteReader) => void;
  /** Called when the process can take more: a life began, or a request was answered. */
  readonly onRoom?: () => void;
  /** Called when a life ends, with the requests that it had not answered, in order. */
  readonly onLost: (requests: readonly Request[]) => void;
  /**
   * Called each time that the process ends without being disposed of: `hung` and `invalid_answer` when this side killed
   * it, else the name of the signal or `exit_` and the code.
   */
  readonly onExit?: (reason: string) => void;
}

/** Why this side ends a life. */
export type KillReason = "hung" | "invalid_answer";

/**
 * The process of one machine through all its lives. The launcher starts the next life when one ends; each life connects
 * to a Unix socket in a directory that only this user may enter. Requests are answered in order; those that a life
 * leaves unanswered are handed back.
 */
export class MachineProcess<Request> implements AsyncDisposable {
  readonly #dependencies: MachineProcessDependencies<Request>;
  readonly #directory = socketDirectory();
  #child: AsyncDisposable | null = null;
  #listener: { stop(closeActive?: boolean): void } | null = null;
  #stream: FrameStream | null = null;
  #pid = 0;
  readonly #requests: Request[] = [];
  readonly #sentAtMs: MonotonicMs[] = [];
  #whenUp: () => void = () => undefined;
  #killReason: KillReason | null = null;
  #isClosed = false;

  private constructor(dependencies: MachineProcessDependencies<Request>) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts the process and resolves when its first life is connected.
   * @throws {Error} when the first start fails; nothing is left behind then.
   */
  static async start<Request>(
    options: MachineProcessOptions,
    dependencies: MachineProcessDependencies<Request>,
  ): Promise<MachineProcess<Request>> {
    const machine = new MachineProcess(dependencies);
    try {
      await machine.#start(options);
    } catch (error) {
      await machine[Symbol.asyncDispose]();
      throw error;
    }
    return machine;
  }

  async #start({ name, entry, env }: MachineProcessOptions): Promise<void> {
    const unix = join(this.#directory, "machine.sock");
    this.#listen(unix);
    const launch = {
      ...{ name, env, readyTimeoutMs, stopTimeoutMs, command: [process.execPath, entry, unix] },
      readReady: (line: string) => (line === readyLine ? (true as const) : null),
    };
    const up = Promise.withResolvers<void>();
    this.#whenUp = up.resolve;
    this.#child = await this.#dependencies.launch(launch, (exit) => this.#exited(exit));
    await up.promise;
  }

  #listen(unix: string): void {
    this.#listener = Bun.listen<FrameStream>({
      unix,
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

  /** Process id of the present life; null between two lives. */
  get pid(): number | null {
    return this.isUp ? this.#pid : null;
  }

  /** Requests that are not answered, the oldest first. */
  get requests(): readonly Request[] {
    return this.#requests;
  }

  #receive(stream: FrameStream, chunk: Uint8Array): void {
    try {
      for (const { kind, reader } of stream.receive(chunk)) {
        if (kind === helloKind) this.#begin(stream, reader.u32());
        else if (stream === this.#stream) this.#answer(reader);
      }
    } catch (error) {
      this.#dependencies.log.warn(
        { error: String(error), pid: this.#pid },
        "a machine's process sent an invalid answer",
      );
      this.kill("invalid_answer");
    }
  }

  #begin(stream: FrameStream, pid: number): void {
    this.#lost(this.#stream);
    this.#stream = stream;
    this.#pid = pid;
    this.#whenUp();
    this.#dependencies.onUp((frames) => stream.send(frames));
    this.#dependencies.onRoom?.();
  }

  #answer(reader: ByteReader): void {
    const [oldest] = this.#requests;
    if (oldest === undefined) throw new RangeError("an answer without a request");
    this.#dependencies.onAnswer(oldest, reader);
    this.#requests.shift();
    this.#sentAtMs.shift();
    this.#dependencies.onRoom?.();
  }

  #lost(stream: FrameStream | null): void {
    if (stream === null || stream !== this.#stream) return;
    this.#stream = null;
    this.#sentAtMs.length = 0;
    this.#dependencies.onLost(this.#requests.splice(0));
  }

  #exited({ code, signal }: ProcessExit): void {
    const reason = this.#killReason ?? signal ?? `exit_${code}`;
    this.#killReason = null;
    this.#dependencies.onExit?.(reason);
  }

  /** Sends frames that are not answered; between two lives they are dropped. */
  send(frames: Uint8Array): void {
    this.#stream?.send(frames);
  }

  /** Sends frames of which the last is answered. Only while a life is up. */
  request(frames: Uint8Array, request: Request): void {
    // A request that no life receives would never be answered nor handed back.
    invariant(this.#stream !== null, "a request goes to a life that is up");
    this.#requests.push(request);
    this.#sentAtMs.push(this.#dependencies.clock.monotonic());
    this.#stream.send(frames);
  }

  /** Whether the oldest request has waited for longer than this, in milliseconds. */
  isHanging(waitMsMax: number): boolean {
    const sentAtMs = this.#sentAtMs[0];
    return sentAtMs !== undefined && this.#dependencies.clock.monotonic() - sentAtMs > waitMsMax;
  }

  /** Ends the present life; the launcher starts another. */
  kill(reason: KillReason): void {
    if (!this.isUp) return;
    this.#killReason = reason;
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#child?.[Symbol.asyncDispose]();
    this.#lost(this.#stream);
    this.#listener?.stop(true);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const directoryPrefix = "sluice-machine-";

/**
 * Creates a directory for the socket of a machine that only this user may enter. It lies among temporary files, since
 * the path of a socket is short and that of a data directory need not be. Directories of processes that no longer exist
 * are removed first.
 */
export function socketDirectory(parent: string = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^sluice-machine-(\d+)-/.exec(name)?.[1]);
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${directoryPrefix}${process.pid}-`));
}

/** A process of another user cannot be signalled, and lives. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
