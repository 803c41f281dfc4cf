import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** What the console is looked at with: Debian's Chromium or another one, and the rules of accessibility. */

/** Undefined where there is no Chromium. */
export const executable = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);
if (executable === undefined) console.warn("NOT RUN: the console in a browser (Chromium was not found)");
/** Pictures for people to look at, when a directory is named. */
export const pictures = process.env["SLUICE_TEST_PICTURES"];

/** The text of axe-core, to be evaluated in a page. */
export const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Flags of a browser that asks nobody else. */
export const quietFlags = [
  // A name of a LAN, to which browsers give less than to localhost.
  "--host-resolver-rules=MAP sluice.test 127.0.0.1",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
];
