import type { Clock } from "@sluice/lib";
import type { Terminal } from "./terminal.ts";

/** Ctrl-C in a terminal reaches the server itself and again through npm: signals this close count as one. */
const sameRequestMs = 1_000;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, more than a second later, ends the process at once: nothing
 * that was acknowledged depends on a clean end.
 */
export async function untilSignal(clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAtMs: number | null = null;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      firstAtMs ??= clock.monotonic();
      if (clock.monotonic() - firstAtMs > sameRequestMs) process.exit(1);
      resolve();
    });
  }
  await promise;
}

/** The first of these signals. Others after it change nothing: whoever sends them ends the process by other means. */
export async function untilSignals<Signal extends NodeJS.Signals>(signals: readonly Signal[]): Promise<Signal> {
  const { promise, resolve } = Promise.withResolvers<Signal>();
  for (const signal of signals) process.on(signal, () => resolve(signal));
  return await promise;
}

/**
 * Calls `reload` at each SIGHUP from an operator or a service manager. Only `serve` uses it: a server that runs in a
 * terminal ends with its terminal.
 */
export function onHangUp(reload: () => Promise<unknown>, terminal: Pick<Terminal, "error">): void {
  // The outcome is in the log; an error is written and does not end the server.
  process.on("SIGHUP", () => void reload().catch((error: unknown) => terminal.error(Bun.inspect(error))));
}
