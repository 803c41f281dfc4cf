import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import type { Clock, Timer } from "@sluice/lib";
import type { Input } from "../aggregate/inputs.ts";
import { serialiseInput, serialiseRound } from "../aggregate/inputs.ts";
import type { Round } from "../model/round.ts";

export interface TickLogOptions {
  readonly directory: string;
  /** Of all files together; the oldest are removed first. */
  readonly bytesMax: number;
  /** A file of this size is closed and followed by a new one. */
  readonly fileBytesMax?: number;
}

export interface TickLogDependencies {
  readonly clock: Pick<Clock, "now" | "every">;
  /** A file could not be written: the log ends, prices continue. */
  readonly failed: (error: unknown) => void;
}

const fileBytesDefault = 8 * 1_024 * 1_024;
/** How often lines are written. */
const flushMs = 2_000;
/** Characters that wait for their flush; the flush runs at once when this many wait. */
const waitingMax = 4 * 1_024 * 1_024;
export const tickLogPattern = /^ticks-(\d{13})-(\d{6})\.log$/;

/**
 * All inputs of rounds in their order, and a digest of the rounds with each flush: a replay of the files gives the same
 * rounds and proves it by the digests. Lines of JSON in blocks, each its length (4 bytes, little-endian) and a zstd
 * frame; the reader omits a block that a crash cut off. The first line of a process's first file marks the start,
 * because the log is complete only from there.
 */
export class TickLog implements AsyncDisposable {
  readonly #options: Required<TickLogOptions>;
  readonly #dependencies: TickLogDependencies;
  readonly #startedAtMs: number;
  readonly #timer: Timer;
  #lines: string[] = [];
  #waiting = 0;
  #digest: Hash = createHash("sha256");
  #rounds = 0;
  #file: number | null = null;
  #fileBytes = 0;
  #files = 0;
  #isOver = false;

  constructor(options: TickLogOptions, dependencies: TickLogDependencies) {
    this.#options = { fileBytesMax: fileBytesDefault, ...options };
    this.#dependencies = dependencies;
    this.#startedAtMs = dependencies.clock.now();
    this.#timer = dependencies.clock.every(flushMs, () => this.flush());
    this.#add(JSON.stringify({ kind: "start", atMs: this.#startedAtMs }));
    // A replay beside a server that has only just started finds the log.
    this.flush();
  }

  /** One mark: the inputs since the previous one, and the rounds that it computed. */
  mark(inputs: readonly Input[], rounds: readonly Round[]): void {
    if (this.#isOver) return;
    for (const input of inputs) this.#add(serialiseInput(input));
    for (const round of rounds) {
      this.#digest.update(serialiseRound(round)).update("\n");
      this.#rounds += 1;
    }
    if (this.#waiting >= waitingMax) this.flush();
  }

  /** Writes the waiting lines, with the digest of their rounds. */
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
    } catch (error) {
      // A full disk ends the log and never a price.
      this.#isOver = true;
      this.#dependencies.failed(error);
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
    this.#timer.cancel();
    this.flush();
    this.#isOver = true;
    this.#end();
  }
}
