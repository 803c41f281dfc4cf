import { seededRandom, systemClock } from "@sluice/lib";
import { createUpstreams } from "./upstreams.ts";

const nodesCount = 3;
/** Reads under way at a time while nodes are killed. */
const readers = 24;
const script = new URL("./testing/stub-process.ts", import.meta.url).pathname;

async function startStub(port: number): Promise<{ port: number; kill: () => Promise<void> }> {
  const child = Bun.spawn([process.execPath, script, String(port)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  let said = "";
  for await (const part of child.stdout) {
    said += new TextDecoder().decode(part);
    if (said.includes("\n")) break;
  }
  return {
    port: Number(said),
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/**
 * Kills one of three nodes with SIGKILL `n` times while two dozen readers ask without a pause, and starts it again.
 * Passes when not one read failed.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const nodes = await Promise.all(Array.from({ length: nodesCount }, () => startStub(0)));
  const label = (index: number) => String.fromCharCode(97 + index);
  await using upstreams = createUpstreams(
    {
      networks: {
        mainnet: [],
        testnet: [],
        devnet: nodes.map(({ port }, index) => ({
          label: label(index),
          url: `http://127.0.0.1:${port}/`,
          ws: `ws://127.0.0.1:${port}/`,
          headers: {},
          groups: ["read"],
          weight: 1,
          requestsPerSecond: null,
        })),
      },
    },
    { clock: systemClock, random, onSlot: () => {} },
  );
  upstreams.start();
  const pool = upstreams.pool("devnet");
  if (pool === null) throw new Error("there is no pool");
  const inside = () => pool.health().filter(({ out }) => out === null).length;
  while (inside() < nodesCount) await Bun.sleep(5);
  let isOver = false;
  let reads = 0;
  const failures: string[] = [];
  const call = {
    method: "getBalance",
    params: "[]",
    kind: "read",
    commitment: "processed",
    minimumSlot: null,
  } as const;
  const reading = Array.from({ length: readers }, async () => {
    while (!isOver) {
      const outcome = await pool.call(call);
      reads += 1;
      if (!outcome.ok) failures.push(`${outcome.refused} by ${outcome.label}`);
    }
  });
  for (let kill = 0; kill < n; kill += 1) {
    const index = Math.floor(random.next() * nodesCount);
    const node = nodes[index];
    if (node === undefined) continue;
    await node.kill();
    await Bun.sleep(20 + random.next() * 60);
    nodes[index] = await startStub(node.port);
    // A second node is killed only when the first is back, as an operator's hosts fail one at a time.
    while (inside() < nodesCount) await Bun.sleep(5);
  }
  isOver = true;
  await Promise.all(reading);
  await Promise.all(nodes.map((node) => node.kill()));
  const summary = `${n} kills under load, seed ${seed}: ${reads} reads, ${failures.length} failed${failures.length === 0 ? "" : `: ${failures.slice(0, 5).join("; ")}`}`;
  return { passed: failures.length === 0, summary };
}
