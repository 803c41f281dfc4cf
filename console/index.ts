/**
 * console: the web pages. Fed by a server's REST through sdk, so it knows nothing that a program could not know; bundled
 * by Bun into plain files, which the server's admin room serves.
 */
import { fileURLToPath } from "node:url";

/** The script that bundles the pages: `bun <entry> <directory>` writes them there, compressed forms beside them. */
export const consoleBuildEntry: string = fileURLToPath(new URL("./build.ts", import.meta.url));
