import { type LedgerRetention, type LedgerTableName, ledgerTableNames } from "@sluice/contract/ledger";
import type { Clock } from "@sluice/lib";
import type { LedgerConnection } from "./connection.ts";

import { type Form, partsOf, storedName } from "./ddl.ts";
import { readRetentions } from "./retention.ts";
import { tables } from "./tables.ts";

/** What a table of the ledger holds now. */
export interface LedgerTableState {
  readonly name: LedgerTableName;
  /** Of a cluster each row once. */
  readonly rows: number;
  /** On disk; of a cluster on all servers together. */
  readonly bytes: number;
  /** The time of the oldest row, Unix milliseconds; null without rows. */
  readonly oldestMs: number | null;
  /** How long it keeps its rows; null where it has a rule of its own. */
  readonly kept: LedgerRetention | null;
}

interface TableStateDependencies {
  readonly connection: Pick<LedgerConnection, "query">;
  readonly form: Form;
  readonly clock: Pick<Clock, "now">;
}

/**
 * The beginning and the number of rows are in the directory of a table's parts, so no row is read. Of a table that is
 * partitioned by slot the first slots are there, and `blocks` has their times.
 */
function contentsOf(name: LedgerTableName): string {
  const { timeColumn = "at", partitionBy } = tables[name] ?? {};
  const first = `(network, slot) GLOBAL IN (SELECT network, min(slot) FROM ${name} GROUP BY network)`;
  const oldest = partitionBy === undefined ? `min(${timeColumn})` : `(SELECT min(at) FROM blocks WHERE ${first})`;
  return `SELECT '${name}' AS name, count() AS n, toUnixTimestamp64Milli(${oldest}) AS oldest FROM ${name}`;
}

/** The statement that sums up the parts on disk of a form. */
export function partsStatement(form: Form): string {
  const own = "WHERE active AND database = {database:String} GROUP BY table";
  return `SELECT table, sum(bytes_on_disk) AS bytes FROM ${partsOf(form)} ${own}`;
}

/** The tables as they are on disk, and from when on each has all of its rows. */
export class TableStates {
  readonly #dependencies: TableStateDependencies;
  #kept: ReadonlyMap<LedgerTableName, LedgerRetention | null> = new Map();
  #last: readonly LedgerTableState[] = [];

  constructor(dependencies: TableStateDependencies) {
    this.#dependencies = dependencies;
  }

  /** What the last reading found; nothing before it. */
  last(): readonly LedgerTableState[] {
    return this.#last;
  }

  /** Throws LedgerUnavailableError, LedgerQueryError. */
  async read(): Promise<readonly LedgerTableState[]> {
    const { connection, form } = this.#dependencies;
    const kept = await this.#readKept();
    const there = ledgerTableNames.filter((name) => kept.has(name));
    const [contents, parts] = await Promise.all([
      connection.query<{ name: string; n: string; oldest: string }>(there.map(contentsOf).join(" UNION ALL ")),
      connection.query<{ table: string; bytes: string }>(partsStatement(form), { database: form.database }),
    ]);
    const bytes = new Map(parts.map((part) => [part.table, Number(part.bytes)]));
    const contentOf = new Map(contents.map((content) => [content.name, content]));
    this.#last = there.map((name) => {
      const rows = Number(contentOf.get(name)?.n ?? 0);
      return {
        name,
        rows,
        bytes: bytes.get(storedName(form, name)) ?? 0,
        oldestMs: rows === 0 ? null : Number(contentOf.get(name)?.oldest),
        kept: kept.get(name) ?? null,
      };
    });
    return this.#last;
  }

  /**
   * The first moment from which a table has all of its rows, as it was when last looked at, in Unix milliseconds;
   * null where it keeps them for ever.
   */
  keptSince(name: LedgerTableName): number | null {
    const kept = this.#kept.get(name) ?? "forever";
    return kept === "forever" ? null : this.#dependencies.clock.now() - kept;
  }

  async #readKept(): Promise<ReadonlyMap<LedgerTableName, LedgerRetention | null>> {
    const { connection, form } = this.#dependencies;
    this.#kept = await readRetentions(connection, form);
    return this.#kept;
  }
}
