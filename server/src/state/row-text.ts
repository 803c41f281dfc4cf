import { StateError } from "./errors.ts";

/** A value as a database holds it. */
export type CopiedCell = string | bigint | Uint8Array | null;
export type CopiedRow = Readonly<Record<string, CopiedCell>>;

/** A row of a table, as a line of text without its end; the same for both drivers. */
export function rowLine(table: string, row: Readonly<Record<string, unknown>>): string {
  const cells = Object.entries(row).map(([name, value]) => [name, cellOf(value)]);
  return JSON.stringify({ table, row: Object.fromEntries(cells) });
}

function cellOf(value: unknown): unknown {
  if (typeof value === "bigint") return { int: value.toString() };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  return value;
}

const plainName = /^[a-z][a-z0-9_]{0,62}$/;
const integerForm = /^-?(?:0|[1-9]\d{0,18})$/;

function damaged(what: string): StateError {
  return new StateError("CORRUPT", `The copy of the state database is damaged: ${what}.`);
}

/** @throws {StateError} CORRUPT for a line that `rowLine` did not write */
export function readRowLine(line: string): { readonly table: string; readonly row: CopiedRow } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw damaged("a line is no JSON");
  }
  const { table, row } = objectOf(value);
  if (typeof table !== "string" || !plainName.test(table)) throw damaged("a line names no table");
  const cells = Object.entries(objectOf(row)).map(([name, cell]): [string, CopiedCell] => {
    if (!plainName.test(name)) throw damaged(`table ${table} has a column of no plain name`);
    return [name, readCell(cell)];
  });
  return { table, row: Object.fromEntries(cells) };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw damaged("a line holds no row");
  return value as Readonly<Record<string, unknown>>;
}

function readCell(cell: unknown): CopiedCell {
  if (cell === null || typeof cell === "string") return cell;
  const { int, bytes } = objectOf(cell);
  if (typeof int === "string" && integerForm.test(int)) return BigInt(int);
  if (typeof bytes === "string") return new Uint8Array(Buffer.from(bytes, "base64"));
  throw damaged("a value is of no known kind");
}
