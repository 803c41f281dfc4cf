/**
 * The pages of the console, which one server of the tests builds and those after it find in their directories: a
 * server builds them where they are missing or older than their sources, in more than a second of a core.
 */
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const kept = join(import.meta.dir, "../../../node_modules/.cache/sluice-console");

const pagesIn = (directory: string): string => join(directory, "console");

/** Of which sources the pages are; null where there are none, or not all of them yet. */
function stampOf(pages: string): string | null {
  const path = join(pages, ".stamp");
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Puts the pages that are kept into the directory of a server that has none. */
export function handPages(directory: string): void {
  const pages = pagesIn(directory);
  if (!existsSync(directory) || existsSync(pages) || stampOf(kept) === null) return;
  try {
    cpSync(kept, pages, { recursive: true });
  } catch {
    // Another runner replaces them at this moment: the server builds its own.
    rmSync(pages, { recursive: true, force: true });
  }
}

/** Keeps the pages that a server has built in its directory. */
export function keepPages(directory: string): void {
  const pages = pagesIn(directory);
  const stamp = stampOf(pages);
  if (stamp === null || stamp === stampOf(kept)) return;
  const aside = `${kept}.${process.pid}`;
  try {
    cpSync(pages, aside, { recursive: true });
    rmSync(kept, { recursive: true, force: true });
    renameSync(aside, kept);
  } catch {
    // Another runner keeps the same pages at this moment.
    rmSync(aside, { recursive: true, force: true });
  }
}
