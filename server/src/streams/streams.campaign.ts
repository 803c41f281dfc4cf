import { seededRandom } from "@sluice/lib";
import { natsBinary, startNats } from "../log/testing/nats-servers.ts";
import { temporaryDirectory } from "../log/testing/segment-logs.ts";
import { jetstreamLogs, segmentLogs } from "./testing/world/stored-logs.ts";
import type { LogDriver } from "./testing/world/streams-logs.ts";
import { drawStreamsPlan } from "./testing/world/streams-plan.ts";
import { type StreamsFigures, StreamsWorld, streamsFigures } from "./testing/world/streams-world.ts";

/**
 * `n` schedules of two or three hosts over one log, by a clock of their own: forks of confirmed blocks, skipped
 * slots, late blocks, blocks that nobody has, stalls and trims of the log, another chain in place of the one before.
 * In a third of them the log is written by one or two processes that ingest from three nodes, of which one alters,
 * reorders, invents and withholds blocks, while these processes are killed and the others go away. Hosts are killed
 * and drained; clients of `/ws`, PubSub and Yellowstone gRPC are cut in the middle of what is on its way, read
 * slowly, lose their key, subscribe, replace their filters and leave, and go on at any host from their last cursor or
 * slot. What each has in the end is what its filter says of the chain: nothing missing, nothing twice that its
 * protocol can tell apart, in order, what died undone where there is a word for it, gaps told, and what the rate
 * dropped counted. `--only 17,300-399` plays these of the `n` with the log in memory; `--only segments` and `--only
 * jetstream` play all of them over a real one.
 */
export async function run(options: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const { n, only = [`0-${n - 1}`] } = options;
  const [first = ""] = only;
  if (first === "segments") return await play({ ...options, only: [`0-${n - 1}`] }, () => segmentLogs());
  if (first !== "jetstream") return await play({ ...options, only }, () => null);
  if (natsBinary === null) return { passed: false, summary: "there is no nats-server" };
  using directory = temporaryDirectory();
  const [server] = await startNats(directory.path, 1);
  try {
    const url = `nats://127.0.0.1:${server?.port}`;
    return await play({ ...options, only: [`0-${n - 1}`] }, (schedule) => jetstreamLogs(url, String(schedule)));
  } finally {
    await server?.kill();
  }
}

async function play(
  { n, seed, only }: { readonly n: number; readonly seed: number; readonly only: readonly string[] },
  driverOf: (schedule: number) => LogDriver | null,
): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const sums = Object.fromEntries(streamsFigures.map((name) => [name, 0])) as StreamsFigures;
  const failed: string[] = [];
  let played = 0;
  for (let schedule = 0; schedule < n && failed.length < failuresMax; schedule += 1) {
    const ownSeed = Math.floor(random.next() * 2 ** 32);
    if (!only.some((range) => isIn(schedule, range))) continue;
    const plan = drawStreamsPlan(seededRandom(ownSeed));
    const { faults, figures } = await new StreamsWorld(ownSeed, plan, driverOf(schedule)).run();
    played += 1;
    for (const name of streamsFigures) sums[name] += figures[name];
    if (faults.length > 0) failed.push(`schedule ${schedule} (${ownSeed}): ${faults.slice(0, 3).join("; ")}`);
  }
  const counted = streamsFigures.map((name) => `${sums[name]} ${name}`).join(", ");
  const summary = [`${played} schedules: ${counted}`, ...failed].join("\n");
  return { passed: failed.length === 0 && played > 0, summary };
}

const failuresMax = 10;

/** Whether a number is in a range such as `300-399`, or is it. */
function isIn(schedule: number, range: string): boolean {
  const [from = "", to = from] = range.split("-");
  return schedule >= Number(from) && schedule <= Number(to);
}
