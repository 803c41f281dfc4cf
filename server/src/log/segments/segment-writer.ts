import type { FileHandle } from "node:fs/promises";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { newLogFileError } from "../errors.ts";
import { encodeFrame } from "./frame.ts";

/** A record that waits to be written. */
interface WaitingRecord {
  readonly head: string;
  readonly body: Uint8Array | null;
  readonly placed: (place: WrittenPlace) => void;
  readonly failed: (error: unknown) => void;
}

/** Where a record's body came to lie. */
export interface WrittenPlace {
  readonly path: string;
  readonly at: number;
  readonly sum: number;
}

export interface SegmentWriterOptions {
  /** Whether each batch of records is synced before it is acknowledged. */
  readonly syncsEach: boolean;
  /** Bytes after which a file ends. */
  readonly segmentBytesMax: number;
}

export interface SegmentWriterDependencies {
  /** The path and the first record of the next file. */
  readonly nextFile: () => { readonly path: string; readonly head: string };
  /** Called when records were written, with the bytes of the file. */
  readonly onWritten: (path: string, fileBytes: number, written: number) => void;
  readonly dataSync: (file: FileHandle) => Promise<void>;
}

/** Records of one batch; those that come meanwhile wait for the next. */
const batchRecordsMax = 256;

interface ActiveFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Up to here the file holds acknowledged records. */
  bytes: number;
  isSynced: boolean;
}

/**
 * Writes records one after the other at the end of the newest file. Records that wait while a batch is written are the
 * next batch, so that one sync serves many. What fails is cut off again, and the next batch tries anew.
 */
export class SegmentWriter implements AsyncDisposable {
  readonly #options: SegmentWriterOptions;
  readonly #dependencies: SegmentWriterDependencies;
  #waiting: WaitingRecord[] = [];
  #active: ActiveFile | null = null;
  #running: Promise<void> | null = null;
  #endsFile = false;

  constructor(options: SegmentWriterOptions, dependencies: SegmentWriterDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** The file that is written to; null before the first record. */
  get path(): string | null {
    return this.#active?.path ?? null;
  }

  /** Resolves when the record is on disk. @throws {LogError} when it is not */
  write(head: string, body: Uint8Array | null): Promise<WrittenPlace> {
    const { promise, resolve, reject } = Promise.withResolvers<WrittenPlace>();
    this.#waiting.push({ head, body, placed: resolve, failed: reject });
    // Records that are handed over in one turn are one batch.
    this.#running ??= Promise.resolve().then(() => this.#run());
    return promise;
  }

  /** The next record begins a new file. */
  endFile(): void {
    this.#endsFile = true;
  }

  /** Syncs what was written and is not synced yet. */
  async sync(): Promise<void> {
    const active = this.#active;
    if (active === null || active.isSynced) return;
    active.isSynced = true;
    try {
      await this.#dependencies.dataSync(active.handle);
    } catch (error) {
      active.isSynced = false;
      throw newLogFileError(`The chain's log cannot sync ${active.path}`, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
    const active = this.#active;
    if (active === null) return;
    this.#active = null;
    try {
      if (!active.isSynced) await this.#dependencies.dataSync(active.handle);
    } finally {
      await active.handle.close();
    }
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchRecordsMax);
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        const failure = newLogFileError("The chain's log cannot be written", error);
        for (const { failed } of batch) failed(failure);
      }
    }
    this.#running = null;
  }

  async #writeBatch(batch: readonly WaitingRecord[]): Promise<void> {
    const file = await this.#file();
    const parts: Uint8Array[] = [];
    const places: WrittenPlace[] = [];
    let end = file.bytes;
    for (const { head, body } of batch) {
      const frame = encodeFrame(head, body);
      parts.push(frame);
      if (body !== null) parts.push(body);
      places.push({ path: file.path, at: end + frame.length, sum: frame.readUInt32LE(12) });
      end += frame.length + (body?.length ?? 0);
    }
    try {
      await writeAll(file, parts);
      if (this.#options.syncsEach) await this.#dependencies.dataSync(file.handle);
    } catch (error) {
      await this.#cutOff(file);
      throw error;
    }
    const written = end - file.bytes;
    file.bytes = end;
    file.isSynced = this.#options.syncsEach;
    this.#dependencies.onWritten(file.path, end, written);
    for (const [index, { placed }] of batch.entries()) {
      const place = places[index];
      if (place !== undefined) placed(place);
    }
  }

  async #file(): Promise<ActiveFile> {
    const { segmentBytesMax } = this.#options;
    if (this.#active !== null && (this.#endsFile || this.#active.bytes >= segmentBytesMax)) {
      const { handle } = this.#active;
      // Later starts believe in whole files but the last.
      await this.#dependencies.dataSync(handle);
      this.#active = null;
      await handle.close();
    }
    this.#endsFile = false;
    this.#active ??= await this.#create();
    return this.#active;
  }

  async #create(): Promise<ActiveFile> {
    const { path, head } = this.#dependencies.nextFile();
    const handle = await open(path, "wx", 0o600);
    const active = { path, handle, bytes: 0, isSynced: false };
    const frame = encodeFrame(head, null);
    try {
      await writeAll(active, [frame]);
      await handle.datasync();
      // A file whose directory was not synced may be gone after a power cut.
      await using directory = await open(dirname(path), "r");
      await directory.sync();
    } catch (error) {
      await handle.close();
      await rm(path, { force: true });
      throw error;
    }
    active.bytes = frame.length;
    return active;
  }

  /** After a failed sync nobody knows what of the file is on disk, so the next batch begins another one. */
  async #cutOff(file: ActiveFile): Promise<void> {
    this.#endsFile = true;
    try {
      await file.handle.truncate(file.bytes);
      await this.#dependencies.dataSync(file.handle);
      this.#endsFile = false;
    } catch {
      this.#active = null;
      await file.handle.close().catch(() => undefined);
    }
  }
}

async function writeAll(file: ActiveFile, parts: readonly Uint8Array[]): Promise<void> {
  let at = file.bytes;
  for (const part of parts) {
    for (let done = 0; done < part.length; ) {
      const { bytesWritten } = await file.handle.write(part, done, part.length - done, at + done);
      done += bytesWritten;
    }
    at += part.length;
  }
}
