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
  /** How often each INSERT was sent; see `#token`. */
  readonly #sent = new WeakMap<EncodedRows, number>();

  constructor(form: Form, dependencies: ChainInsertsDependencies) {
    this.#form = form;
    this.#dependencies = dependencies;
    this.#session = Buffer.from(dependencies.random.bytes(8)).toString("hex");
  }

  /** Rows of the blocks of some slots. @throws {LedgerUnavailableError | LedgerQueryError} */
  async rows(network: Network, range: SlotSpan, rows: EncodedRows): Promise<void> {
    const { connection, clock, events } = this.#dependencies;
    const beganMs = clock.monotonic();
    const sent = this.#sent.get(rows) ?? 0;
    this.#sent.set(rows, sent + 1);
    const body = { kind: "native", columns: rows.columns, bytes: rows.bytes } as const;
    await connection.insertRows(rows.table.name, body, this.#token(network, range, { rows, sent }));
    events?.ledgerFlushed(rows.table.name, rows.rows, clock.monotonic() - beganMs);
  }

  /** Rows of a small table. @throws {LedgerUnavailableError | LedgerQueryError} */
  async records(table: string, rows: readonly object[], name: string): Promise<void> {
    const token = `${name}-${this.#session}-${Buffer.from(this.#dependencies.random.bytes(8)).toString("hex")}`;
    await this.#dependencies.connection.insertRows(table, { kind: "rows", rows }, token);
  }

  /**
   * Table, range and a hash of the content. On tables that are not replicated a kill may leave a token without its
   * rows, so what is sent again, or by another process, has a token of its own: rows that are there twice count once.
   */
  #token(network: Network, { first, until }: SlotSpan, { rows, sent }: { rows: EncodedRows; sent: number }): string {
    const hash = new Bun.CryptoHasher("sha256").update(rows.bytes).digest("hex");
    const name = `${rows.table.name}-${network}-${first}-${until}-${hash}`;
    return this.#form.cluster === null ? `${name}-${this.#session}-${sent}` : name;
  }
}
