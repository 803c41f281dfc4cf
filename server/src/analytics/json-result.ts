/**
 * The JSON of a result, made while it is read: rows pass as the engine writes them, a list a line. 64-bit and larger
 * integers and decimals are text there, so that no reader rounds them.
 */

export interface ResultFigures {
  readonly rowsRead: bigint;
  readonly bytesRead: bigint;
  readonly elapsedMs: number;
  readonly credits: number;
}

const newline = 0x0a;

interface ColumnsBody {
  readonly name: string;
  readonly type: string;
}

/** The first two lines of JSONCompactEachRowWithNamesAndTypes. */
function columnsOf(names: string, types: string): ColumnsBody[] {
  const read = (line: string): string[] => {
    const list: unknown = JSON.parse(line);
    if (!Array.isArray(list)) throw new Error("the engine gave no list of columns");
    return list.map(String);
  };
  const typeNames = read(types);
  return read(names).map((name, at) => ({ name, type: typeNames[at] ?? "" }));
}

/** Reads up to the second line break; returns the two lines and what follows them. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<{ names: string; types: string; rest: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const first = head.indexOf(newline);
    const second = first === -1 ? -1 : head.indexOf(newline, first + 1);
    if (second !== -1) {
      const names = head.subarray(0, first).toString("utf8");
      const types = head.subarray(first + 1, second).toString("utf8");
      return { names, types, rest: head.subarray(second + 1) };
    }
    const { done, value } = await source.next();
    if (done === true) throw new Error("the engine gave no columns");
    head = Buffer.concat([head, value]);
  }
}

/** The members `columns`, `rows` and the figures, as pieces of JSON text. `source` is in the format named above. */
export async function* jsonResult(
  source: AsyncIterable<Uint8Array>,
  figures: ResultFigures,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const { names, types, rest } = await readHead(iterator);
  yield Buffer.from(`{"columns":${JSON.stringify(columnsOf(names, types))},"rows":[`);
  const joiner = new RowJoiner();
  if (rest.byteLength > 0) yield joiner.join(rest);
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    if (next.value.byteLength > 0) yield joiner.join(next.value);
  }
  const end = {
    row_count: joiner.rows,
    rows_read: String(figures.rowsRead),
    bytes_read: String(figures.bytesRead),
    elapsed_ms: figures.elapsedMs,
    credits: figures.credits,
  };
  yield Buffer.from(`],${JSON.stringify(end).slice(1)}`);
}

/** Makes lines the items of a list: a comma goes before each line but the first. */
class RowJoiner {
  /** Lines that have ended. */
  rows = 0;
  #owesComma = false;

  join(piece: Uint8Array): Uint8Array {
    const source = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const parts: Buffer[] = [];
    for (let from = 0; from < source.length; ) {
      if (this.#owesComma) parts.push(comma);
      const end = source.indexOf(newline, from);
      this.#owesComma = end !== -1;
      if (end !== -1) this.rows++;
      parts.push(source.subarray(from, end === -1 ? source.length : end));
      from = end === -1 ? source.length : end + 1;
    }
    return Buffer.concat(parts);
  }
}

const comma = Buffer.from(",");
