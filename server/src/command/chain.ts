import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import type { DevFile } from "./dev-file.ts";
import { CommandFailure } from "./terminal.ts";

const callTimeoutMs = 60_000;
const lamportsPerSol = 1_000_000_000n;

type Options = Readonly<Record<string, unknown>>;

/** What a running `sluice dev` wrote into its data directory. */
function readDevFile(directory: string): DevFile {
  const path = join(directory, "dev.json");
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new CommandFailure(`${path} cannot be read: start \`sluice dev\`, or name its directory with --data-dir`);
  }
}

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly key?: string;
}

/** @throws {CommandFailure} when nothing answers there, or with the error that was answered. */
async function call(url: string, { key, method, params }: Call): Promise<unknown> {
  const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "x-api-key": key }) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const signal = AbortSignal.timeout(callTimeoutMs);
  const response = await fetch(url, { method: "POST", headers, body, signal }).catch(() => {
    throw new CommandFailure(`nothing answers at ${url}: is \`sluice dev\` running?`);
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new CommandFailure(`${method}: ${answer.error.message}`);
  return answer.result;
}

function whole(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new CommandFailure(`${name} must be a whole number of at least 1`);
  return Number(text);
}

/** Lamports of an amount of SOL with up to nine decimals. */
export function lamportsOf(sol: string): bigint {
  const [, units = "", decimals = ""] = /^(\d{1,6})(?:\.(\d{1,9}))?$/.exec(sol) ?? [];
  const lamports = units === "" ? 0n : BigInt(units) * lamportsPerSol + BigInt(decimals.padEnd(9, "0"));
  if (lamports === 0n)
    throw new CommandFailure("the amount must be SOL above 0 and below 1000000, with at most 9 decimals, such as 1.5");
  return lamports;
}

/** What each choice of `chain advance` is called by the chain. */
const advances = ["slots", "epochs", "seconds"] as const;

/** Commands for the development chain of a running `sluice dev`. */
export function addChainCommands(program: Command, context: CommandContext): void {
  const chain = program.command("chain").description("the development chain of a running `sluice dev`");
  const file = (options: Options): DevFile => readDevFile(context.config(options).stores.directory);
  const admin = (options: Options, method: string, parameter: object): Promise<unknown> => {
    const { chainAdmin } = file(options);
    if (chainAdmin === null) throw new CommandFailure("the server has no development chain of its own");
    return call(chainAdmin, { method, params: [parameter] });
  };
  const print = (options: Options, result: unknown) => context.print(options, result, () => JSON.stringify(result));
  context
    .command(chain, "fork [depth]", "abandon the newest blocks that are not confirmed; 1 by default")
    .option("--confirmed", "also blocks that are confirmed, up to the finalized one")
    .option("--land-again", "run the abandoned transactions again on the new branch")
    .action(async (depth: string | undefined, options: Options) => {
      const landAgain = options["landAgain"] === true;
      const parameter = { depth: whole(depth ?? "1", "depth"), landAgain, confirmed: options["confirmed"] === true };
      print(options, await admin(options, "devnet_fork", parameter));
    });
  context
    .command(chain, "advance", "move the chain on at once, all of it finalized")
    .option("--slots <n>", "by slots, each with a block")
    .option("--epochs <n>", "by epochs")
    .option("--seconds <n>", "by seconds")
    .action(async (options: Options) => {
      const [name, ...more] = advances.filter((each) => options[each] !== undefined);
      if (name === undefined || more.length > 0)
        throw new CommandFailure("name one of --slots, --epochs and --seconds");
      print(options, await admin(options, "devnet_advance", { [name]: whole(String(options[name]), `--${name}`) }));
    });
  context
    .command(chain, "airdrop <address> <sol>", "give an address SOL of the faucet; prints the signature")
    .action(async (address: string, sol: string, options: Options) => {
      const lamports = Number(lamportsOf(sol));
      const { doors, key } = file(options);
      if (doors.rpc === null) throw new CommandFailure("the server has no JSON-RPC endpoint");
      const signature = await call(doors.rpc, { key, method: "requestAirdrop", params: [address, lamports] });
      context.print(options, { signature }, () => String(signature));
    });
}
