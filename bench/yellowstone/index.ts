/**
 * What a block costs the process that ingests it: from a Yellowstone stream, step by step and as a whole over gRPC,
 * from getBlock, and on to the log and the ledger. CPU of this process for each transaction; the server is another one.
 */
import { encodeBlock, orderedBody, packBlock, readBlock, readBlockHead, readJson, unpackBlock } from "@sluice/encode";
import { seededRandom, systemClock } from "@sluice/lib";
import { stringifyJsonExact } from "@sluice/wire/json";
import { unreadable } from "../../server/src/history/testing/stand.ts";
import { BlockRows } from "../../server/src/history/writer/block-rows.ts";
import { NodeBlocks, ReadBodies, YellowstoneSource } from "../../server/src/ingest/index.ts";
import { makeBlocks } from "./blocks.ts";

const distinct = 8;
const rounds = Number(process.argv[2] ?? 10);

const blocks = makeBlocks(distinct);
const bodies = blocks.map(packBlock);
const transactions = blocks.reduce((total, each) => total + each.transactions.length, 0) / distinct;
const bodyBytes = bodies.reduce((total, { length }) => total + length, 0) / distinct;
const answers = blocks.map((block) => {
  const options = { transactionDetails: "full", rewards: true, maxSupportedTransactionVersion: 1 } as const;
  const encoded = encodeBlock(block, { encoding: "base64", ...options });
  if (!encoded.ok) throw new Error("a block of the bench cannot be presented");
  return stringifyJsonExact(encoded.value);
});

interface Row {
  readonly step: string;
  readonly cpuMicrosPerTransaction: number;
  readonly wallMsPerBlock: number;
}

/** Runs a step over all blocks, once to warm up and then `rounds` times. */
function measured(step: string, run: (index: number) => unknown): Row {
  for (let index = 0; index < distinct; index += 1) run(index);
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) for (let index = 0; index < distinct; index += 1) run(index);
  return row(step, process.cpuUsage(cpu), performance.now() - started);
}

function row(step: string, { user, system }: NodeJS.CpuUsage, wallMs: number): Row {
  const count = rounds * distinct;
  return {
    step,
    cpuMicrosPerTransaction: (user + system) / count / transactions,
    wallMsPerBlock: wallMs / count,
  };
}

/** The source at a server in another process, to the last block. */
async function throughStream(step: string, bodies: Pick<ReadBodies, "read">): Promise<Row> {
  const command = [process.execPath, new URL("server.ts", import.meta.url).pathname, `${distinct}`, `${rounds}`];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const url = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}`;
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  const source = new YellowstoneSource(
    { node: "bench", url, token: null },
    {
      clock: systemClock,
      random: seededRandom(1),
      blocks: new NodeBlocks(async () => ({ kind: "limited" })),
      bodies,
    },
  );
  let given = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  source.start({
    block() {
      given += 1;
    },
    slot: () => resolve(),
    malformed: () => resolve(),
    up: () => {},
    down: () => resolve(),
  });
  await finished;
  const found = row(step, process.cpuUsage(cpu), performance.now() - started);
  await source[Symbol.asyncDispose]();
  await child.stdin.end();
  await child.exited;
  if (given !== rounds * distinct) throw new Error(`${given} of ${rounds * distinct} blocks arrived`);
  return found;
}

const shared = new ReadBodies();
/** Reads each body as one that nobody has sent before. */
const forgetful = { read: (view: Uint8Array) => new ReadBodies().read(view) };
const maker = new BlockRows({ network: "devnet", votes: false, unreadable });
const bodyAt = (index: number): Uint8Array => bodies[index] ?? new Uint8Array(0);
const rows = [
  measured("head of a body", (index) => readBlockHead(bodyAt(index))),
  measured("head and order", (index) => readBlockHead(orderedBody(bodyAt(index)))),
  measured("unpacked", (index) => unpackBlock(bodyAt(index))),
  measured("read whole, by a network's first source", (index) => new ReadBodies().read(bodyAt(index).slice())),
  measured("read again, by its other sources", (index) => shared.read(bodyAt(index))),
  await throughStream("the first source over gRPC, to its sink", forgetful),
  await throughStream("another source over gRPC, to its sink", shared),
  measured("packed for the log", (index) => Bun.zstdCompressSync(bodyAt(index), { level: 1 })),
  measured("rows of the ledger, of a block that is unpacked", (index) => {
    maker.add(bodyAt(index), 0);
    maker.rows.encode();
    maker.rows.clear();
  }),
  measured("getBlock answer, read and packed", (index) =>
    packBlock(readBlock(blocks[index]?.slot ?? 0n, readJson(answers[index] ?? ""))),
  ),
];

const answerBytes = answers.reduce((total, { length }) => total + length, 0) / distinct;
console.log(
  `blocks of ${transactions} transactions: ${Math.round(bodyBytes / 1024)} KiB as a body, ${Math.round(answerBytes / 1024)} KiB as an answer`,
);
console.log("| step | CPU, µs a transaction | wall, ms a block |\n|---|---|---|");
for (const { step, cpuMicrosPerTransaction, wallMsPerBlock } of rows) {
  console.log(`| ${step} | ${cpuMicrosPerTransaction.toFixed(2)} | ${wallMsPerBlock.toFixed(1)} |`);
}
