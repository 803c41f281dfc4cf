/**
 * Resolves at the first SIGINT or SIGTERM. A second one ends the process at once: whoever sends it has waited enough,
 * and nothing that was acknowledged depends on a clean end.
 */
export async function untilSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      seen++;
      if (seen > 1) process.exit(1);
      resolve();
    });
  }
  await promise;
}
