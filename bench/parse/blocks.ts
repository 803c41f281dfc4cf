import { type ConfirmedTransaction, packBlock, unpackOnce } from "@sluice/encode";
import { parseTransaction, TransactionView, toldOf } from "@sluice/parser";
import { AddressTexts } from "@sluice/wire/address-texts";

/** Transactions of one block. */
const blockTransactions = 1_000;
const rounds = 15;
const warmUpRounds = 5;

/** Real transactions one after the other, again and again, as the log has the body of a block. */
function bodyOf(transactions: readonly ConfirmedTransaction[]): Uint8Array {
  const repeated = Array.from({ length: blockTransactions }, (_, at) => transactions[at % transactions.length]);
  return packBlock({
    slot: 2n,
    parentSlot: 1n,
    blockhash: "11111111111111111111111111111111",
    previousBlockhash: "11111111111111111111111111111111",
    blockTime: 1_700_000_000n,
    blockHeight: 2n,
    transactions: repeated.flatMap((transaction) => transaction ?? []),
    rewards: [],
  });
}

interface BlockFigures {
  /** Microseconds of each transaction, the median over the rounds. */
  readonly unpacked: number;
  readonly parsed: number;
  readonly told: number;
}

/**
 * What a transaction of a whole block costs one core: its body unpacked and its calls in order; and parsed, type,
 * facts and movements; and with sentence and events, as the ledger has them. Each includes the ones before.
 */
export function measureBlocks(kinds: ReadonlyMap<string, readonly ConfirmedTransaction[]>): Map<string, BlockFigures> {
  const figures = new Map<string, BlockFigures>();
  for (const [kind, transactions] of kinds) {
    if (transactions.length === 0) continue;
    const body = bodyOf(transactions);
    const addresses = new AddressTexts();
    const views = (): TransactionView[] =>
      unpackOnce(body).transactions.map((each) => new TransactionView(each, addresses));
    const place = { slot: 2n, blockTime: 1_700_000_000n };
    figures.set(kind, {
      unpacked: median(() => views().reduce((count, { calls }) => count + calls.length, 0)),
      parsed: median(() => views().map(parseTransaction)),
      told: median(() => views().map((view) => toldOf(view, parseTransaction(view), place))),
    });
  }
  return figures;
}

function median(work: () => unknown): number {
  const times: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) times.push((user + system) / blockTransactions);
  }
  return times.toSorted((one, other) => one - other)[rounds >> 1] ?? Number.NaN;
}
