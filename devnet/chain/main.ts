import { type Log, systemClock } from "@sluice/lib";
import { endInOrder } from "../end-of-process.ts";
import { processLog } from "../log.ts";
import { GenesisFaults } from "./genesis/index.ts";
import { startMachine } from "./machine/index.ts";
import { type ChainNode, startNode } from "./node.ts";
import { type NodeOptions, parseCommandLine } from "./options.ts";

function endWithFaults(faults: readonly string[]): never {
  for (const fault of faults) process.stderr.write(`devnet chain: ${fault}\n`);
  process.exit(2);
}

async function start(options: NodeOptions, log: Log): Promise<ChainNode> {
  const svm = await startMachine(log);
  return startNode(options, { clock: systemClock, log, svm }).catch((error: unknown) => {
    if (error instanceof GenesisFaults) endWithFaults(error.faults);
    throw error;
  });
}

/** The pools of genesis, for readers of prices: by name, each side's vault, mint and decimals. */
function poolsOf(node: ChainNode) {
  return Object.fromEntries(
    node.chain.genesis.description.pools.map(({ name, sides }) => [
      name,
      sides.map(({ mint, vault }) => ({ vault, mint: mint.address, decimals: mint.decimals })),
    ]),
  );
}

/**
 * Entry of the chain's process. Prints one JSON line when it is ready; ends with 0 on SIGTERM and SIGINT, and at the
 * end of its standard input when that is a pipe or --exit-with-parent was given, so that it never outlives its parent.
 */
async function main(): Promise<void> {
  const log = processLog("devnet chain");
  const command = parseCommandLine(Bun.argv.slice(2));
  if (!command.ok) return endWithFaults(command.faults);
  if (command.dataIgnored) log.warn({}, "the chain is kept in memory: --data has no effect");
  // The chain goes on, whatever a client sent: a defect costs no more than one answer.
  process.on("unhandledRejection", (reason) => log.error({ reason }, "a promise was rejected and nothing handled it"));
  const node = await start(command.options, log);
  endInOrder(node, command.exitWithParent);
  const admin = node.adminUrl === null ? {} : { admin: node.adminUrl };
  const grpc = node.grpcUrl === null ? {} : { grpc: node.grpcUrl };
  const { blockEngine } = command.options;
  const engine = blockEngine === null ? {} : { blockEngine };
  const ready = { ready: true, rpc: node.rpcUrl, ws: node.wsUrl, ...admin, ...grpc, ...engine, pools: poolsOf(node) };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

await main();
