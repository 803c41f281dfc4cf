/** Where a value came from; `rule` is for faults between several values. */
export type Source = "environment" | "file" | "flag" | "default" | "rule";

/** One thing that is wrong with the configuration. Holds nothing secret. */
export interface ConfigFault {
  /** The key as it is written in its source, such as `DATABASE_URL`, `stores.database_url` or `--bind`. */
  readonly key: string;
  readonly source: Source;
  /** What was given, masked where it may be secret; null when nothing was, or when it must not be shown. */
  readonly given: string | null;
  readonly expected: string;
  /** For an unknown key: the known one that was probably meant. */
  readonly suggestion: string | null;
}

/** One fault on one line. */
export function formatFault({ key, source, given, expected, suggestion }: ConfigFault): string {
  const where = source === "rule" ? "" : ` (${source})`;
  const got = given === null ? "" : ` given ${given};`;
  const hint = suggestion === null ? "" : ` Did you mean ${suggestion}?`;
  return `${key}${where}:${got} expected ${expected}.${hint}`;
}

/** All faults, one on each line, under a line that counts them. */
export function formatFaults(faults: readonly ConfigFault[]): string {
  const many = faults.length === 1 ? "one fault" : `${faults.length} faults`;
  return [`The configuration has ${many}:`, ...faults.map((fault) => `  ${formatFault(fault)}`)].join("\n");
}

/** Edits (insert, delete, replace, swap neighbours) between two short texts; stops counting past `most`. */
function editDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + same,
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? most + 1;
}

/** The known name nearest to `name`, if it is near enough to have been meant; letter case does not count. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const most = Math.max(1, Math.min(4, Math.floor(name.length / 3)));
  let nearest: string | null = null;
  let least = most + 1;
  if (name.length > 100) return null;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), most);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
