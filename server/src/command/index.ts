/**
 * command: the `sluice` program. One file for each command; `serve` and `dev` run a server through compose, all others
 * ask the running one over its Unix socket, or open the stores themselves when no server runs.
 * Fed by main with the arguments; feeds compose, and people through the terminal.
 */
export { buildProgram } from "./program.ts";
export { CommandFailure } from "./terminal.ts";
