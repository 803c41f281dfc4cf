import type { Clock } from "@sluice/lib";

/** A terminal's Ctrl-C reaches the server itself, and npm passes it on as well: both are one wish. */
const sameWishMs = 1_000;

/**
 * Resolves at the first SIGINT or SIGTERM. One that comes more than a second later ends the process at once: whoever
 * sends it has waited enough, and nothing that was acknowledged depends on a clean end.
 */
export async function untilSignal(clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAtMs: number | null = null;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      firstAtMs ??= clock.monotonic();
      if (clock.monotonic() - firstAtMs > sameWishMs) process.exit(1);
      resolve();
    });
  }
  await promise;
}

/**
 * Calls `reload` at each SIGHUP, as an operator or a service manager sends it. Only a server that stands alone asks for
 * this: one that a terminal holds is to end with its terminal.
 */
export function onHangUp(reload: () => Promise<unknown>): void {
  // What came of it is in the log; a fault must not end the server that was to go on.
  process.on("SIGHUP", () => void reload().catch((fault: unknown) => console.error(fault)));
}
