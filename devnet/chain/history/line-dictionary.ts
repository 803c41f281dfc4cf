import type { RecordReader, RecordWriter } from "./record-bytes.ts";

const LINES_MAX = 16_384;
const LINE_CHARACTERS_MAX = 256;
/** Lines that came once lately. */
const SEEN_MAX = 1_024;

/**
 * Texts that come again and again, by number: most log lines are a program's name and "invoke", "success" or what it
 * consumed. A line gets its number when it comes for the second time within 1,024 new ones; numbers are never taken back,
 * so that at most some 5 MB are held.
 */
export class LineDictionary {
  readonly #numbers = new Map<string, number>();
  readonly #lines: string[] = [];
  readonly #seen = new Set<string>();

  write(line: string, to: RecordWriter): void {
    const number = this.#numbers.get(line) ?? this.#admit(line);
    to.count(number);
    if (number === 0) to.text(line);
  }

  read(from: RecordReader): string {
    const number = from.count();
    return number === 0 ? from.text() : (this.#lines[number - 1] ?? "");
  }

  /** The number that a line has now: 0 as long as it has none. */
  #admit(line: string): number {
    if (line.length > LINE_CHARACTERS_MAX || this.#lines.length >= LINES_MAX) return 0;
    if (!this.#seen.delete(line)) {
      if (this.#seen.size >= SEEN_MAX) this.#seen.clear();
      this.#seen.add(line);
      return 0;
    }
    this.#lines.push(line);
    this.#numbers.set(line, this.#lines.length);
    return this.#lines.length;
  }
}
