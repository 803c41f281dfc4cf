/**
 * console: the web pages. Fed by a server's REST through sdk, so it knows nothing that a program could not know;
 * bundled by Bun into plain files, which the server's admin room serves.
 */
export { buildConsoleFiles } from "./files.ts";
