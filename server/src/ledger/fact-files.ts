import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Batch, newBatch } from "./batches.ts";
import { requestsTable } from "./tables.ts";

/** A batch that waits in a file. */
export interface StoredBatch {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
}

export interface FactFilesOptions {
  /** Shared by the processes of one data directory; each has a folder of its own in it. */
  readonly directory: string;
  /** This process, under a name that no other has. */
  readonly holder: string;
  /** Bytes that all files together may take. */
  readonly bytesMax: number;
}

export interface FactFilesDependencies {
  /** Holds a file for this process until it ends; null while another process holds it. */
  readonly lock: (path: string) => Disposable | null;
}

const ending = ".facts";
/** A name has the rows of its batch, so that a start need not read the files. */
const nameForm = /^(\d{20})-(\d{1,7})\.facts$/;
const headForm = "sluice facts 1";

/**
 * Batches of facts in files, oldest first, while the ledger takes none. A file is whole or absent; what a process that
 * has ended left is taken over by the next one on the directory.
 */
export class FactFiles implements Disposable {
  readonly #options: FactFilesOptions;
  readonly #lock: FactFilesDependencies["lock"];
  readonly #folder: string;
  readonly #batches: StoredBatch[] = [];
  #held: Disposable | null = null;
  #bytes = 0;
  #isClosed = false;

  constructor(options: FactFilesOptions, dependencies: FactFilesDependencies) {
    this.#options = options;
    this.#lock = dependencies.lock;
    this.#folder = join(options.directory, options.holder);
    this.#adoptAll();
  }

  get rows(): number {
    return this.#batches.reduce((sum, { rows }) => sum + rows, 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The one that is written next. */
  get first(): StoredBatch | undefined {
    return this.#batches[0];
  }

  /** False where there is no room. Rejects when the disk takes no more; then nothing is stored. */
  async put(batch: Batch): Promise<boolean> {
    if (batch.body.kind !== "native") throw new TypeError("Batches of facts are blocks in Native format");
    const { columns, bytes } = batch.body;
    if (this.#isClosed || this.#bytes + bytes.byteLength > this.#options.bytesMax) return false;
    this.#hold();
    const { number, rows, fromMs, toMs, token } = batch;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const head = JSON.stringify({ form: headForm, number: `${number}`, columns, rows, fromMs, toMs, token, sha256 });
    const path = join(this.#folder, `${String(number).padStart(20, "0")}-${rows}${ending}`);
    const partial = `${path}.partial`;
    const file = await open(partial, "w", 0o600);
    try {
      await file.appendFile(`${head}\n`);
      await file.appendFile(bytes);
      await file.sync();
    } catch (error) {
      await file.close();
      rmSync(partial, { force: true });
      throw error;
    }
    await file.close();
    renameSync(partial, path);
    this.#add({ path, rows, bytes: bytes.byteLength });
    return true;
  }

  /** The batch of a file; null for one that is not as it was written. */
  async read({ path, rows }: StoredBatch): Promise<Batch | null> {
    const content = await readFile(path);
    const end = content.indexOf("\n");
    const head = readHead(content.subarray(0, Math.max(0, end)).toString("utf8"));
    const bytes = new Uint8Array(content.subarray(end + 1));
    if (head === null || head.rows !== rows) return null;
    if (createHash("sha256").update(bytes).digest("hex") !== head.sha256) return null;
    const batch = newBatch(requestsTable, BigInt(head.number), { kind: "native", columns: head.columns, bytes }, head);
    batch.token = head.token;
    batch.isOld = true;
    return batch;
  }

  /** The first one is done with. */
  shift(): void {
    // Once it is closed the files may be another process's.
    const first = this.#isClosed ? undefined : this.#batches.shift();
    if (first === undefined) return;
    this.#bytes -= first.bytes;
    rmSync(first.path, { force: true });
  }

  /** What is left waits for the next process on the directory. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (this.#batches.length === 0 && this.#held !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#held?.[Symbol.dispose]();
    if (this.#batches.length === 0 && this.#held !== null) rmSync(`${this.#folder}.lock`, { force: true });
    this.#held = null;
  }

  #add(batch: StoredBatch): void {
    this.#batches.push(batch);
    this.#bytes += batch.bytes;
  }

  /** The folder is made, and held against others, when it is first needed. */
  #hold(): void {
    if (this.#held !== null) return;
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 });
    this.#held = this.#lock(`${this.#folder}.lock`);
    if (this.#held === null) throw new Error(`The facts of ${this.#options.holder} are held by another process.`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  #adoptAll(): void {
    const { directory, holder } = this.#options;
    if (!existsSync(directory)) return;
    const locks = readdirSync(directory).filter((name) => name.endsWith(".lock") && name !== `${holder}.lock`);
    for (const name of locks) this.#adopt(join(directory, name.slice(0, -".lock".length)));
    this.#batches.sort((left, right) => (left.path < right.path ? -1 : 1));
  }

  /** A batch has a number that no other process gives, so files keep their names. */
  #adopt(folder: string): void {
    const lock = this.#lock(`${folder}.lock`);
    if (lock === null) return;
    using _held = lock;
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const rows = Number(nameForm.exec(name)?.[2] ?? 0);
      if (rows === 0) continue;
      this.#hold();
      const path = join(this.#folder, name);
      renameSync(join(folder, name), path);
      this.#add({ path, rows, bytes: statSync(path).size });
    }
    rmSync(folder, { recursive: true, force: true });
    rmSync(`${folder}.lock`, { force: true });
  }
}

interface Head {
  readonly number: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly token: string;
  readonly sha256: string;
}

function readHead(text: string): Head | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const head = value as Head & { readonly form?: unknown };
  return typeof value === "object" && value !== null && head.form === headForm ? head : null;
}
