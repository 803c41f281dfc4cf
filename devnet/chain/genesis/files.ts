import { readFileSync, statSync } from "node:fs";

/** A file's bytes. Throws Error when it is none, such as a device whose size says nothing, or has more than `max`. */
export function readBounded(path: string, max: number): Buffer {
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error("it is no file");
  if (stat.size > max) throw new Error(`it has more than ${max} bytes`);
  return readFileSync(path);
}
