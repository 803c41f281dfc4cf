/** What a node says that its chain is, and whether a follower was told it and a ledger holds it. */
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import type { ChainIdentity } from "../../src/log/index.ts";
import { type IngestReader, listHash } from "./ingest-reader.ts";
import { post } from "./network.ts";

export interface NodeBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parent: string;
  readonly transactions: number;
  /** Of the list of first signatures. */
  readonly signatures: string;
}

const network = "devnet";
const slotsAtOnce = 1_000;
const blocksAtOnce = 8;
const shownMax = 5;

async function ask<T>(url: string, method: string, ...params: readonly unknown[]): Promise<T> {
  const { body } = await post(url, { jsonrpc: "2.0", id: 1, method, params });
  if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
  return body.result;
}

/** As servers know it: by the first block that its node has after the genesis. */
export async function identityOf(url: string): Promise<ChainIdentity> {
  const [first] = await ask<number[]>(url, "getBlocksWithLimit", 1, 1);
  if (first === undefined) throw new Error("the chain has no block");
  return {
    genesisHash: await ask<string>(url, "getGenesisHash"),
    firstBlockhash: (await blockOf(url, first)).blockhash,
  };
}

export const finalizedSlot = (url: string): Promise<number> => ask<number>(url, "getSlot", { commitment: "finalized" });

async function blockOf(url: string, slot: number): Promise<NodeBlock> {
  const block = await ask<{ blockhash: string; previousBlockhash: string; signatures: string[] }>(
    url,
    "getBlock",
    slot,
    {
      transactionDetails: "signatures",
      rewards: false,
      commitment: "finalized",
      maxSupportedTransactionVersion: 0,
    },
  );
  const { blockhash, previousBlockhash: parent, signatures } = block;
  return { slot, blockhash, parent, transactions: signatures.length, signatures: listHash(signatures) };
}

/** All finalized blocks up to a slot. */
export async function nodeChain(url: string, last: number): Promise<readonly NodeBlock[]> {
  const slots: number[] = [];
  for (let from = 1; from <= last; from += slotsAtOnce) {
    const to = Math.min(last, from + slotsAtOnce - 1);
    slots.push(...(await ask<number[]>(url, "getBlocks", from, to, { commitment: "finalized" })));
  }
  const blocks: NodeBlock[] = [];
  for (let at = 0; at < slots.length; at += blocksAtOnce) {
    blocks.push(...(await Promise.all(slots.slice(at, at + blocksAtOnce).map((slot) => blockOf(url, slot)))));
  }
  return blocks;
}

/** Nothing missing, nothing twice, in order, each with its parent and its transactions; nothing final was undone. */
export function readerFaults(reader: IngestReader, chain: readonly NodeBlock[]): string[] {
  const faults: string[] = [];
  const last = chain.at(-1)?.slot ?? 0;
  for (const told of [reader.confirmed, reader.finalized]) {
    const { stage, signatures } = told;
    const blocks = told.chain.blocks.filter(({ slot }) => slot <= BigInt(last));
    const found = blocks.map(({ slot, blockhash, parentBlockhash }) =>
      [slot, blockhash, parentBlockhash, signatures.get(blockhash)].join(" "),
    );
    const wanted = chain.map(({ slot, blockhash, parent, signatures: list }) =>
      [slot, blockhash, parent, list].join(" "),
    );
    const at = wanted.findIndex((each, place) => found[place] !== each);
    if (at >= 0) faults.push(`${stage}: ${found[at]} was told in place of ${wanted[at]}`);
    if (found.length !== wanted.length) faults.push(`${stage}: ${found.length} blocks were told of ${wanted.length}`);
    if (told.chain.gaps.length > 0) faults.push(`${stage}: a gap was told of what the node has`);
  }
  if (reader.finalized.chain.undone > 0) faults.push("a finalized block was undone");
  return faults;
}

/** The ledger of a server that has ended holds the chain up to its watermark, and nothing else. */
export async function ledgerFaults(directory: string, chain: readonly NodeBlock[]): Promise<string[]> {
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  await using ledger = await openLedger(
    { directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null },
    { clock: systemClock, random: systemRandom, log: quiet },
  );
  const { watermark, ranges } = await ledger.chain.held(network);
  const last = chain.at(-1)?.slot ?? 0;
  const faults: string[] = [];
  if (watermark === null || watermark < BigInt(last)) faults.push(`it is final up to ${watermark}, not ${last}`);
  if (ranges.length !== 1 || ranges[0] === undefined || ranges[0].first > BigInt(chain[0]?.slot ?? 0))
    faults.push(`it holds ${ranges.map(({ first, until }) => `${first} to ${until}`).join(", ")}`);
  const held = await ledger.chain.blocksOf(network, { first: 0n, until: BigInt(last) + 1n });
  const found = new Set(held.map(({ slot, blockhash, parentBlockhash }) => `${slot} ${blockhash} ${parentBlockhash}`));
  const wanted = new Set(chain.map(({ slot, blockhash, parent }) => `${slot} ${blockhash} ${parent}`));
  if (found.size !== held.length) faults.push("a block is held twice");
  faults.push(...[...wanted.difference(found)].slice(0, shownMax).map((each) => `it lacks ${each}`));
  faults.push(...[...found.difference(wanted)].slice(0, shownMax).map((each) => `${each} is not of the chain`));
  faults.push(...(await transactionFaults(ledger, chain)));
  return faults;
}

/** The transactions of each block, in order, each once. */
async function transactionFaults(ledger: Ledger, chain: readonly NodeBlock[]): Promise<string[]> {
  const rows = await ledger.query<{ blockhash: string; list: readonly string[] }>(
    "SELECT blockhash, groupArray(signature) AS list FROM (SELECT blockhash, signature FROM transactions FINAL " +
      `WHERE network = '${network}' ORDER BY slot, blockhash, transaction_index) GROUP BY blockhash`,
  );
  const lists = new Map(rows.map(({ blockhash, list }) => [blockhash, list]));
  const dropped = new Set(await ledger.chain.droppedFrom(network, 0n));
  const last = chain.at(-1)?.slot ?? 0;
  const later = await ledger.chain.blocksOf(network, { first: BigInt(last) + 1n, until: 2n ** 62n });
  const faults: string[] = [];
  for (const { slot, blockhash, transactions, signatures } of chain) {
    const list = lists.get(blockhash) ?? [];
    lists.delete(blockhash);
    if (list.length !== transactions || listHash(list) !== signatures)
      faults.push(`slot ${slot}: ${list.length} transactions of ${transactions}, or other ones`);
  }
  for (const { blockhash } of later) lists.delete(blockhash);
  for (const blockhash of lists.keys()) {
    if (!dropped.has(blockhash)) faults.push(`transactions of ${blockhash}, which is neither on the chain nor dropped`);
  }
  return faults.slice(0, shownMax);
}
