import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Writes what was written to a file, or the names in a folder, through to the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const bufferedBytes = 256 * 1024;

/** Writes lines to a new file and syncs it. */
export async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    let waiting: string[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (waiting.length > 0) await file.appendFile(`${waiting.join("\n")}\n`);
      waiting = [];
      size = 0;
    };
    for await (const line of lines) {
      waiting.push(line);
      size += line.length;
      if (size >= bufferedBytes) await flush();
    }
    await flush();
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The lines of a file, without their ends. Other line separators than LF are text here. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const file = await open(path, "r");
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let rest = "";
    for await (const piece of file.createReadStream({ highWaterMark: bufferedBytes, autoClose: false })) {
      const lines = (rest + decoder.decode(piece as Buffer, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    rest += decoder.decode();
    if (rest !== "") yield rest;
  } finally {
    await file.close();
  }
}
