import { readFileSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Advance } from "./advances.ts";

interface Waiting {
  readonly advance: Advance;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The advances of one process in a file, a line of JSON each. Advances that are asked for together share a sync; the
 * file is emptied when all of them are charged. It is made with the first.
 */
export class AdvanceFile implements AsyncDisposable {
  readonly #path: string;
  readonly #unbooked = new Set<number>();
  readonly #waiting: Waiting[] = [];
  #file: FileHandle | null = null;
  #writing: Promise<void> | null = null;
  #isStale = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when the record is on disk. */
  record(advance: Advance): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ advance, resolve, reject });
    this.#writing ??= this.#write();
    return promise;
  }

  booked({ number }: Advance): void {
    if (!this.#unbooked.delete(number) || this.#unbooked.size > 0) return;
    this.#isStale = true;
    this.#writing ??= this.#write();
  }

  /** Recorded, and not charged yet. */
  get unbooked(): number {
    return this.#unbooked.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = null;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0 || this.#isStale) {
      const batch = this.#waiting.splice(0);
      try {
        if (batch.length > 0) await this.#append(batch.map(({ advance }) => advance));
        else await this.#empty();
        for (const { advance, resolve } of batch) {
          this.#unbooked.add(advance.number);
          resolve();
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = null;
  }

  async #append(advances: readonly Advance[]): Promise<void> {
    this.#isStale = false;
    this.#file ??= await this.#create();
    // A line of its own begins each: what an earlier write left unfinished spoils no other record.
    const text = advances.map((advance) => `\n${JSON.stringify(advance)}`).join("");
    await this.#file.appendFile(`${text}\n`);
    await this.#file.datasync();
  }

  /** Records that stay behind are harmless: an advance that is charged is not charged again. */
  async #empty(): Promise<void> {
    this.#isStale = false;
    await this.#file?.truncate(0);
  }

  async #create(): Promise<FileHandle> {
    const file = await open(this.#path, "a", 0o600);
    const directory = await open(dirname(this.#path), "r");
    try {
      // The sync of a file leaves out the name that leads to it.
      await directory.sync();
    } finally {
      await directory.close();
    }
    return file;
  }
}

/**
 * The advances that a process has left, in their order. A line that is not whole belongs to an advance that was never
 * given: it is given when its record is on disk.
 */
export function readAdvances(path: string): Advance[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap(parseAdvance);
}

export const removeAdvances = (path: string): void => rmSync(path, { force: true });

function parseAdvance(line: string): Advance[] {
  if (line === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  if (typeof value !== "object" || value === null) return [];
  const { accountId, month, number, credits } = value as Readonly<Record<string, unknown>>;
  if (typeof accountId !== "string" || typeof month !== "string" || !/^\d{4}-\d\d$/.test(month)) return [];
  if (!isCount(number) || !isCount(credits)) return [];
  return [{ accountId, month, number, credits }];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
