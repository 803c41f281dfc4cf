import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import type { Input } from "../aggregate/inputs.ts";
import { serialiseInput, serialiseRound } from "../aggregate/inputs.ts";
import type { Round } from "../model/round.ts";

export interface TickLogOptions {
  readonly directory: string;
  /** All files together; the oldest go first. */
  readonly bytesMax: number;
  /** A file is ended when it has grown to this. */
  readonly fileBytesMax?: number;
  /** How often what came is written; null leaves it to `flush`. */
  readonly flushMs?: number | null;
}

export interface TickLogDependencies {
  /** Unix milliseconds, for the names of files. */
  readonly now: () => number;
  /** A file could not be written: the log ends, prices go on. */
  readonly failed: (fault: unknown) => void;
}

const fileBytesDefault = 8 * 1_024 * 1_024;
const flushMsDefault = 2_000;
/** Characters that wait for their flush; when as many have come it is made at once. */
const waitingMax = 4 * 1_024 * 1_024;
export const tickLogPattern = /^ticks-(\d{13})-(\d{6})\.log$/;

/**
 * Everything that rounds are made of, in its order, and a digest of the rounds with each flush: a replay of the files gives
 * the same rounds and can prove it. Lines of JSON in blocks, each its length (4 bytes, little-endian) and a zstd frame; a
 * block that was cut by a crash is left out by the reader. The first line of a process's first file says so, since only from
 * there on nothing is missing.
 */
export class TickLog implements AsyncDisposable {
  readonly #options: Required<TickLogOptions>;
  readonly #deps: TickLogDependencies;
  readonly #startedAtMs: number;
  readonly #timer: ReturnType<typeof setInterval> | null;
  #lines: string[] = [];
  #waiting = 0;
  #digest: Hash = createHash("sha256");
  #rounds = 0;
  #file: number | null = null;
  #fileBytes = 0;
  #files = 0;
  #isOver = false;

  constructor(options: TickLogOptions, dependencies: TickLogDependencies) {
    this.#options = { fileBytesMax: fileBytesDefault, flushMs: flushMsDefault, ...options };
    this.#deps = dependencies;
    this.#startedAtMs = dependencies.now();
    const { flushMs } = this.#options;
    this.#timer = flushMs === null ? null : setInterval(() => this.flush(), flushMs);
    this.#timer?.unref();
    this.#add(JSON.stringify({ kind: "start", atMs: this.#startedAtMs }));
  }

  /** One mark: what was taken in since the one before, and the rounds that it made. */
  mark(inputs: readonly Input[], rounds: readonly Round[]): void {
    if (this.#isOver) return;
    for (const input of inputs) this.#add(serialiseInput(input));
    for (const round of rounds) {
      this.#digest.update(serialiseRound(round)).update("\n");
      this.#rounds += 1;
    }
    if (this.#waiting >= waitingMax) this.flush();
  }

  /** Writes what came, with the digest of its rounds. */
  flush(): void {
    if (this.#isOver || this.#lines.length === 0) return;
    this.#add(JSON.stringify({ kind: "digest", rounds: this.#rounds, sha256: this.#digest.digest("hex") }));
    this.#digest = createHash("sha256");
    this.#rounds = 0;
    const frame = zstdCompressSync(this.#lines.join("\n"));
    this.#lines = [];
    this.#waiting = 0;
    const block = Buffer.alloc(4 + frame.length);
    block.writeUInt32LE(frame.length, 0);
    block.set(frame, 4);
    try {
      this.#write(block);
    } catch (fault) {
      // A full disk costs the log, never a price.
      this.#isOver = true;
      this.#deps.failed(fault);
    }
  }

  #add(line: string): void {
    this.#lines.push(line);
    this.#waiting += line.length + 1;
  }

  #write(block: Buffer): void {
    if (this.#file !== null && this.#fileBytes + block.length > this.#options.fileBytesMax) this.#end();
    this.#file ??= this.#begin();
    for (let at = 0; at < block.length; ) at += writeSync(this.#file, block, at);
    this.#fileBytes += block.length;
  }

  #begin(): number {
    const { directory } = this.#options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#makeRoom();
    const name = `ticks-${this.#startedAtMs}-${String(this.#files).padStart(6, "0")}.log`;
    this.#files += 1;
    this.#fileBytes = 0;
    return openSync(join(directory, name), "wx", 0o600);
  }

  #makeRoom(): void {
    const { directory, bytesMax, fileBytesMax } = this.#options;
    const names = readdirSync(directory)
      .filter((name) => tickLogPattern.test(name))
      .toSorted();
    const sizes = names.map((name) => statSync(join(directory, name)).size);
    let total = sizes.reduce((sum, size) => sum + size, 0) + fileBytesMax;
    for (const [index, name] of names.entries()) {
      if (total <= bytesMax) return;
      rmSync(join(directory, name));
      total -= sizes[index] ?? 0;
    }
  }

  #end(): void {
    if (this.#file === null) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
    this.#file = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.flush();
    this.#isOver = true;
    this.#end();
  }
}
