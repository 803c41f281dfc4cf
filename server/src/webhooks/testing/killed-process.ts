import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";

/** What a process tells while it lives. */
export interface Heard {
  committed(slot: number): void;
  /** The outcome of a delivery is written. */
  done(deliveryId: string): void;
  webhook(place: number, id: string): void;
}

/** `kills-child.ts` as a process that is started again when it has been killed. */
export class KilledProcess {
  readonly #command: readonly string[];
  readonly #heard: Heard;
  #process: ReturnType<typeof spawn> | null = null;
  #reading: Promise<void> = Promise.resolve();
  #waiting: readonly number[] | null = null;
  #isReady = false;
  #to = 0;

  constructor(args: readonly string[], heard: Heard) {
    this.#command = [process.execPath, join(import.meta.dir, "kills-child.ts"), ...args];
    this.#heard = heard;
    this.start();
  }

  /** What waits in each queue, as it was told last; null while nothing was. */
  get waiting(): readonly number[] | null {
    return this.#waiting;
  }

  start(): void {
    this.#waiting = null;
    this.#isReady = false;
    const child = spawn(this.#command);
    this.#process = child;
    this.#reading = this.#read(child.stdout);
    this.goTo(this.#to);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line.split(" "));
    }
  }

  #take([kind, first = "", ...rest]: readonly string[]): void {
    if (kind === "ready") this.#isReady = true;
    else if (kind === "committed") this.#heard.committed(Number(first));
    else if (kind === "done") this.#heard.done(first);
    else if (kind === "webhook") this.#heard.webhook(Number(first), rest[0] ?? "");
    else if (kind === "waiting") this.#waiting = [first, ...rest].map(Number);
  }

  /** Resolves when it schedules and delivers. */
  async ready(): Promise<void> {
    await eventually("a process that delivers", () => this.#isReady, 120_000);
  }

  /** It may append so many records of its chain, and does so again when it is started again. */
  goTo(records: number): void {
    this.#to = records;
    this.#say(`to ${records}`);
  }

  /** From now on nothing is scheduled any more but the rest of a chain. */
  finish(): void {
    this.#say("finish");
  }

  /** The owner of all webhooks asks for what was given up, and so for an attempt at each receiver. */
  recover(): void {
    this.#say("recover");
  }

  #say(line: string): void {
    this.#process?.stdin.write(`${line}\n`);
    this.#process?.stdin.flush();
  }

  /** Resolves when all that it has told is heard. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
    await this.#reading;
  }

  async end(): Promise<void> {
    this.#process?.stdin.end();
    await this.#process?.exited;
  }
}

const spawn = (command: readonly string[]) =>
  Bun.spawn([...command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
