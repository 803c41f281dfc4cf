/** Of CPU and not of the clock on the wall, so that a busy machine makes rounds longer and not poorer. */
const roundMs = 400;
/** Long enough that what the runtime compiles is compiled, as it is in a process that serves. */
const warmUpMs = 400;

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * Calls until so much CPU is used, with turns of the event loop, in which the runtime gives back unreferenced memory.
 */
async function callFor(ms: number, work: (call: number) => void): Promise<{ calls: number; microseconds: number }> {
  const start = cpuMicroseconds();
  for (let calls = 0; ; calls += 1) {
    const microseconds = cpuMicroseconds() - start;
    if (microseconds >= ms * 1_000) return { calls, microseconds };
    work(calls);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Mean microseconds of CPU for each of the `count` things that one call does. */
export async function cpuOf(count: number, work: (call: number) => void): Promise<number> {
  await callFor(warmUpMs, work);
  const { calls, microseconds } = await callFor(roundMs, work);
  return microseconds / (calls * count);
}

/** The one of the list whose turn it is. */
export function atTurn<T>(list: readonly T[], turns: number): T {
  const found = list[turns % list.length];
  if (found === undefined) throw new RangeError("an empty list");
  return found;
}
