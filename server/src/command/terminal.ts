/** The output of commands, handed in so that tests can read it. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** A failure that a person can correct: one sentence, without a stack; the command ends with 1. */
export class CommandFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandFailure";
  }
}

type Cell = string | number | boolean | null | undefined;

/** Rows as an aligned table; the head names the columns. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [
    head,
    ...rows.map((row) => row.map((cell) => (cell === null || cell === undefined ? "-" : String(cell)))),
  ];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => (row[column] ?? "").length)));
  return texts
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
