import type { Network } from "@sluice/contract/tiers";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { newestGains, profitsFrom, sumOfGains } from "./bundle-profits.ts";
import type { LedgerConnection } from "./connection.ts";

/**
 * Which ended bundles of a network: by when they ended (Unix milliseconds, `untilMs` no longer counts) and whose they
 * were.
 */
export interface BundleQuestion {
  readonly network: Network;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Null is everyone. */
  readonly searcherId: string | null;
  /** As written by the engine, for example `arbitrage`; null is every type. */
  readonly mevType: string | null;
}

/** Counts and sums over the bundles that ended in a period. */
export interface BundleFigures {
  /** Bundles that ended, and those of them that landed: finalized in a block. */
  readonly ended: number;
  readonly landed: number;
  /** Bundles that were handed to a leader at least once. */
  readonly forwarded: number;
  /** Landed of ended, 0 to 1; 0 when none ended. */
  readonly landingRate: number;
  /** Lamports that tip accounts gained by the bundles that landed. */
  readonly tips: bigint;
  /** Lamports that the bundles that did not land had offered. */
  readonly tipsLost: bigint;
  /** Compute units of the bundles that landed, where they are known. */
  readonly computeUnits: bigint;
}

/** The figures of one type of MEV. */
export interface BundleMevFigures extends BundleFigures {
  readonly mevType: string;
}

/** The figures of one UTC day. */
export interface BundleDay extends BundleFigures {
  /** For example 2026-11-20. */
  readonly day: string;
}

/** Whose bundles, and which: `accountId` null is everyone, `mevType` null every type. */
export interface ProfitQuestion extends Omit<BundleQuestion, "searcherId"> {
  readonly accountId: string | null;
  /** The accounts that tips are paid to: who pays one owns the bundle. */
  readonly tipAccounts: readonly string[];
}

/**
 * What bundles that landed made of the balances of those whose bundles they are, in lamports: those bundles alone of
 * which the ledger has every transaction.
 */
export interface BundleBalances {
  readonly bundles: bigint;
  /** Native and wrapped balances after less before. */
  readonly gained: bigint;
  /** Of the transactions that the owner pays for. */
  readonly fees: bigint;
  readonly tips: bigint;
}

/** A bundle that landed. */
export interface LandedBundle {
  readonly id: string;
  readonly mevType: string;
  readonly slot: bigint;
  /** Lamports that tip accounts gained by it. */
  readonly tip: bigint;
}

/** What a bundle that landed made of its owner's balances, in lamports. */
export interface BundleGain {
  readonly id: string;
  readonly slot: bigint;
  /** Native and wrapped balances after less before. */
  readonly gained: bigint;
  readonly fees: bigint;
  readonly tip: bigint;
}

const daysMax = 10_000;
/** Rows of versions that wrote none are of the network that was the default one when the ledger was given its id. */
const ofNetwork =
  "network IN ({network:String}, if({network:String} = " +
  "(SELECT network FROM identity ORDER BY made_at, id LIMIT 1), '', {network:String}))";
const landed = "state = 'finalized'";
const figures =
  `count() AS ended, countIf(${landed}) AS landed_count, countIf(forwarded_times > 0) AS forwarded, ` +
  `sumIf(ifNull(tip_seen, 0), ${landed}) AS tips, sumIf(tip, NOT (${landed})) AS lost, ` +
  `sumIf(ifNull(compute_units, 0), ${landed}) AS units`;

type FiguresRow = Record<"ended" | "landed_count" | "forwarded" | "tips" | "lost" | "units", string>;

/**
 * Queries about the outcomes of bundles. FINAL merges rows that were written twice, also before the engine has
 * done so; partitions are merged apart, since a bundle's row lies in the month of its end.
 */
export class BundleQueries {
  readonly #connection: LedgerConnection;

  constructor(connection: LedgerConnection) {
    this.#connection = connection;
  }

  async figures(question: BundleQuestion): Promise<BundleFigures> {
    const [row] = await this.#read<FiguresRow>("", "", question);
    if (row === undefined) throw new Error("a sum without a row");
    return figuresOf(row);
  }

  async byMevType(question: BundleQuestion): Promise<readonly BundleMevFigures[]> {
    const group = "toString(mev_type) AS name,";
    const rows = await this.#read<FiguresRow & { name: string }>(group, "GROUP BY name ORDER BY name", question);
    return rows.map((row) => ({ mevType: row.name, ...figuresOf(row) }));
  }

  async byDay(question: BundleQuestion): Promise<readonly BundleDay[]> {
    const group = "toString(toDate(at)) AS name,";
    const end = `GROUP BY name ORDER BY name LIMIT ${daysMax}`;
    const rows = await this.#read<FiguresRow & { name: string }>(group, end, question);
    return rows.map((row) => ({ day: row.name, ...figuresOf(row) }));
  }

  /** When the first bundle of a network ended that the ledger still has; null without one. Unix milliseconds. */
  async firstAtMs(network: Network): Promise<number | null> {
    const [row] = await this.#connection.query<{ first: string; ended: string }>(
      `SELECT toUnixTimestamp64Milli(min(at)) AS first, count() AS ended FROM bundle_outcomes WHERE ${ofNetwork}`,
      { network },
    );
    return row === undefined || row.ended === "0" ? null : Number(row.first);
  }

  /** The newest that landed. Which others ended is for those who submitted them. */
  async newestLanded(question: BundleQuestion, limit: number): Promise<readonly LandedBundle[]> {
    const { conditions, parameters } = asked(question);
    const rows = await this.#connection.query<Record<"id" | "type" | "slot" | "seen", string>>(
      "SELECT id, toString(mev_type) AS type, toString(ifNull(landed_slot, 0)) AS slot, " +
        "toString(ifNull(tip_seen, 0)) AS seen FROM bundle_outcomes FINAL " +
        `WHERE ${[...conditions, landed].join(" AND ")} ORDER BY at DESC, id LIMIT {limit:UInt32}`,
      { ...parameters, limit },
      settings,
    );
    return rows.map(({ id, type, slot, seen }) => ({ id, mevType: type, slot: BigInt(slot), tip: BigInt(seen) }));
  }

  async balances(question: ProfitQuestion): Promise<BundleBalances> {
    const [row] = await this.#profits<Record<keyof BundleBalances, string>>(question, sumOfGains, {});
    if (row === undefined) throw new Error("a sum without a row");
    const { bundles, gained, fees, tips } = row;
    return { bundles: BigInt(bundles), gained: BigInt(gained), fees: BigInt(fees), tips: BigInt(tips) };
  }

  /** What `balances` adds up, of each bundle, the newest first. */
  async gains(question: ProfitQuestion, limit: number): Promise<readonly BundleGain[]> {
    type Row = Record<"id" | "slot" | "gained" | "fees" | "tips", string>;
    const rows = await this.#profits<Row>(question, newestGains, { limit });
    return rows.map(({ id, slot, gained, fees, tips }) => {
      return { id, slot: BigInt(slot), gained: BigInt(gained), fees: BigInt(fees), tip: BigInt(tips) };
    });
  }

  #profits<Row>(
    question: ProfitQuestion,
    sql: string,
    more: Readonly<Record<string, unknown>>,
  ): Promise<readonly Row[]> {
    const { conditions, parameters } = asked({ ...question, searcherId: null });
    const { accountId, tipAccounts } = question;
    const { wrappedNativeMint, wrappedNativeMint2022 } = wellKnownAddresses;
    const whose = accountId === null ? [] : ["account_id = {account:String}"];
    return this.#connection.query<Row>(
      profitsFrom([...conditions, landed, ...whose].join(" AND "), sql),
      {
        ...parameters,
        ...more,
        tipAccounts,
        wrapped: [wrappedNativeMint, wrappedNativeMint2022],
        ...(accountId === null ? {} : { account: accountId }),
      },
      settings,
    );
  }

  #read<Row>(group: string, end: string, question: BundleQuestion): Promise<Row[]> {
    const { conditions, parameters } = asked(question);
    return this.#connection.query<Row>(
      `SELECT ${group} ${figures} FROM bundle_outcomes FINAL WHERE ${conditions.join(" AND ")} ${end}`,
      parameters,
      settings,
    );
  }
}

const settings = { do_not_merge_across_partitions_select_final: 1 } as const;

/** The conditions of a question, and the parameters that they name. */
function asked({ network, fromMs, untilMs, searcherId, mevType }: BundleQuestion) {
  return {
    conditions: [
      ofNetwork,
      "at >= fromUnixTimestamp64Milli({from:Int64})",
      "at < fromUnixTimestamp64Milli({until:Int64})",
      ...(searcherId === null ? [] : ["searcher_id = {searcher:String}"]),
      ...(mevType === null ? [] : ["mev_type = {mevType:String}"]),
    ],
    parameters: {
      network,
      from: fromMs,
      until: untilMs,
      ...(searcherId === null ? {} : { searcher: searcherId }),
      ...(mevType === null ? {} : { mevType }),
    },
  };
}

function figuresOf(row: FiguresRow): BundleFigures {
  const ended = Number(row.ended);
  const landedCount = Number(row.landed_count);
  return {
    ended,
    landed: landedCount,
    forwarded: Number(row.forwarded),
    landingRate: ended === 0 ? 0 : landedCount / ended,
    tips: BigInt(row.tips),
    tipsLost: BigInt(row.lost),
    computeUnits: BigInt(row.units),
  };
}
