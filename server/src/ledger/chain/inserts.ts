import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { LedgerConnection } from "../connection.ts";
import type { Form } from "../ddl.ts";
import type { LedgerEvents } from "../events.ts";
import type { SlotSpan } from "./ranges.ts";
import type { EncodedRows } from "./rows.ts";

export interface ChainInsertsDependencies {
  readonly connection: Pick<LedgerConnection, "insertRows">;
  readonly clock: Clock;
  readonly random: Random;
  readonly events?: Pick<LedgerEvents, "ledgerFlushed">;
}

/** INSERTs into the chain's tables, whose rows count once however often they are sent. */
export class ChainInserts {
  readonly #form: Form;
  readonly #dependencies: ChainInsertsDependencies;
  /** Of this process; see `#token`. */
  readonly #session: string;
  /** INSERTs that were sent; see `#token`. */
  #sent = 0;

  constructor(form: Form, dependencies: ChainInsertsDependencies) {
    this.#form = form;
    this.#dependencies = dependencies;
    this.#session = Buffer.from(dependencies.random.bytes(8)).toString("hex");
  }

  /** Rows of the blocks of some slots. @throws {LedgerUnavailableError | LedgerQueryError} */
  async rows(network: Network, range: SlotSpan, rows: EncodedRows): Promise<void> {
    const { connection, clock, events } = this.#dependencies;
    const beganMs = clock.monotonic();
    const body = { kind: "native", columns: rows.columns, bytes: rows.bytes } as const;
    await connection.insertRows(rows.table.name, body, this.#token(network, range, rows));
    events?.ledgerFlushed(rows.table.name, rows.rows, clock.monotonic() - beganMs);
  }

  /** Rows of a small table. @throws {LedgerUnavailableError | LedgerQueryError} */
  async records(table: string, rows: readonly object[], name: string): Promise<void> {
    const token = `${name}-${this.#session}-${Buffer.from(this.#dependencies.random.bytes(8)).toString("hex")}`;
    await this.#dependencies.connection.insertRows(table, { kind: "rows", rows }, token);
  }

  /**
   * Table and range, and in a cluster a hash of the content: whoever sends the same again has the same token. On
   * tables that are not replicated a kill may leave a token without its rows, so there each INSERT has a token of its
   * own: rows that are there twice count once.
   */
  #token(network: Network, { first, until }: SlotSpan, { table, bytes }: EncodedRows): string {
    const name = `${table.name}-${network}-${first}-${until}`;
    if (this.#form.cluster === null) {
      this.#sent += 1;
      return `${name}-${this.#session}-${this.#sent}`;
    }
    return `${name}-${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`;
  }
}
