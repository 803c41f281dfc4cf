import type { Network } from "@sluice/contract/tiers";
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

  #read<Row>(
    group: string,
    end: string,
    { network, fromMs, untilMs, searcherId, mevType }: BundleQuestion,
  ): Promise<Row[]> {
    const conditions = [
      ofNetwork,
      "at >= fromUnixTimestamp64Milli({from:Int64})",
      "at < fromUnixTimestamp64Milli({until:Int64})",
      ...(searcherId === null ? [] : ["searcher_id = {searcher:String}"]),
      ...(mevType === null ? [] : ["mev_type = {mevType:String}"]),
    ];
    const parameters = {
      network,
      from: fromMs,
      until: untilMs,
      ...(searcherId === null ? {} : { searcher: searcherId }),
      ...(mevType === null ? {} : { mevType }),
    };
    return this.#connection.query<Row>(
      `SELECT ${group} ${figures} FROM bundle_outcomes FINAL WHERE ${conditions.join(" AND ")} ${end}`,
      parameters,
      { do_not_merge_across_partitions_select_final: 1 },
    );
  }
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
