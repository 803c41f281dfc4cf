/** The first pause between two checks, the factor by which pauses grow, and the longest pause. */
const pause = { firstMs: 1, factor: 1.5, longestMs: 50 } as const;

/**
 * Waits until `condition` gives a value other than null, undefined or false, and gives that value. What the condition
 * throws counts as "not yet". It polls in real time, since what is awaited (sockets, processes, disks) lives there.
 *
 * @param what what is awaited, for the error's message.
 * @throws {Error} when that does not happen within `timeoutMs`; the message holds the last error of the condition.
 */
export async function eventually<T>(
  what: string,
  condition: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  let last: unknown;
  for (let pauseMs: number = pause.firstMs; ; pauseMs = Math.min(pauseMs * pause.factor, pause.longestMs)) {
    try {
      const value = await condition();
      if (value !== null && value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadlineMs) break;
    await Bun.sleep(pauseMs);
  }
  throw new Error(`${what}: not within ${timeoutMs} ms${last === undefined ? "" : ` (${String(last)})`}`);
}

/**
 * `eventually` for a condition whose source text says what is awaited.
 *
 * @throws {Error} when the condition does not hold within `timeoutMs`.
 */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  await eventually(String(condition), condition, timeoutMs);
}
