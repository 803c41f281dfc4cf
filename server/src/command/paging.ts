import type { Command } from "commander";
import { wholeNumber } from "./arguments.ts";

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** Adds the options of a list. */
export function withPages(command: Command): Command {
  return command
    .option("--limit <n>", "how many at most, up to 1000", wholeNumber, 50)
    .option("--cursor <cursor>", "where the page before ended");
}

/** The query of a page, and of what else is given. */
export function pageQuery(
  { limit, cursor }: PageOptions,
  others: Readonly<Record<string, string | undefined>> = {},
): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit) });
  if (cursor !== undefined) query.set("cursor", cursor);
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.set(name, value);
  return query;
}

/** The line below a table that says how to go on; nothing below the last page. */
export function moreLine(nextCursor: string | null): string {
  return nextCursor === null ? "" : `\n\nMore with --cursor ${nextCursor}`;
}
