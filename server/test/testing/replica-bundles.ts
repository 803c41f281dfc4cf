/** Searchers of two networks, whose engines run on one database, and what becomes of their bundles. */
import { eventually } from "@sluice/lib/testing";
import type { Keypair } from "@solana/web3.js";
import { memo, signatureOf, signed, tip } from "./bundles.ts";
import { ChainReader } from "./chain-reader.ts";
import { type Customer, networkOf, type ReplicaStage, replicaIndexes } from "./replica-stage.ts";
import { RestSearcher } from "./searcher.ts";

export interface BundleRecord {
  readonly id: string;
  readonly network: (typeof networkOf)[number];
  readonly signature: string;
  /** As the state store has it; null where it does not know it. */
  state: string | null;
}

type Network = (typeof networkOf)[number];

const engineRestPort = 7435;
const pauseMs = 200;
const ended: ReadonlySet<string | null> = new Set(["finalized", "dropped", "expired"]);
/** More than the life of a blockhash. */
const endSlots = 200;

export class ReplicaBundles {
  /** Bundles that were accepted, by id. */
  readonly accepted = new Map<string, BundleRecord>();
  /** Answers that were no acceptance, by their code. */
  readonly refused: Record<string, number> = {};
  readonly #stage: ReplicaStage;
  /** The searcher. */
  readonly customer: Customer;
  readonly #readers: Readonly<Record<Network, ChainReader>>;
  readonly #payers: Readonly<Record<Network, Keypair>>;
  #count = 0;

  private constructor(
    stage: ReplicaStage,
    customer: Customer,
    { readers, payers }: { readers: Record<Network, ChainReader>; payers: Record<Network, Keypair> },
  ) {
    this.#stage = stage;
    this.customer = customer;
    this.#readers = readers;
    this.#payers = payers;
  }

  static async start(stage: ReplicaStage): Promise<ReplicaBundles> {
    const permissions = ["read", "bundles:write"];
    const customer = await stage.customer({ requestsPerSecond: 10_000, creditsMonthly: 10_000_000, permissions });
    const readers = {
      devnet: new ChainReader(stage.chains.devnet.rpc),
      testnet: new ChainReader(stage.chains.testnet.rpc),
    };
    const [[devnet], [testnet]] = await Promise.all([readers.devnet.wallets(1), readers.testnet.wallets(1)]);
    return new ReplicaBundles(stage, customer, { readers, payers: { devnet, testnet } });
  }

  /** Submits to each process in turn until it is told that it is over. */
  async submit(isOver: () => boolean): Promise<void> {
    await Promise.all(
      replicaIndexes.map(async (replica) => {
        while (!isOver()) {
          await this.#one(replica).catch((error: unknown) => this.#note(String(error)));
          await Bun.sleep(pauseMs);
        }
      }),
    );
  }

  async #one(replica: number): Promise<void> {
    const searcher = this.#searcher(replica);
    if (searcher === null) return;
    const network = networkOf[replica] ?? "devnet";
    this.#count += 1;
    const payer = this.#payers[network];
    const blockhash = await this.#readers[network].blockhash();
    const transaction = signed(payer, blockhash, tip(payer), memo(`${network} ${this.#count}`));
    const { status, body } = await searcher.submit([transaction]);
    if (status !== 202) {
      this.#note(body.code);
      return;
    }
    const id = String(body.bundleId);
    this.accepted.set(id, { id, network, signature: signatureOf(transaction), state: "accepted" });
  }

  #note(code: string): void {
    this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  #searcher(replica: number): RestSearcher | null {
    const gateway = this.#stage.gateway(replica);
    if (gateway === null) return null;
    return new RestSearcher(`http://127.0.0.1:${engineRestPort + gateway.offset}`, this.customer.key);
  }

  /** Reads the book, and gives what contradicts what was said before; the stage must be whole. */
  async check(): Promise<readonly string[]> {
    const faults: string[] = [];
    const statement = "select id, network, state from bundles where id = any($1)";
    const rows = await this.#stage.postgres.query<{ id: string; network: string; state: string }>(statement, [
      [...this.accepted.keys()],
    ]);
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const record of this.accepted.values()) {
      const row = found.get(record.id);
      if (row === undefined) faults.push(`bundles: ${record.id} was accepted and is unknown`);
      else if (row.network !== record.network) faults.push(`bundles: ${record.id} is a bundle of ${row.network}`);
      else if (ended.has(record.state) && row.state !== record.state) {
        faults.push(`bundles: ${record.id} had ended as ${record.state} and is ${row.state}`);
      }
      record.state = row?.state ?? null;
    }
    return [...faults, ...(await this.#foreign())];
  }

  /** No process holds the lease of another network's engine, and none shows its bundles. */
  async #foreign(): Promise<string[]> {
    const faults: string[] = [];
    const newest = [...this.accepted.values()].toReversed();
    for (const replica of replicaIndexes) {
      const gateway = this.#stage.gateway(replica);
      const foreign = networkOf[replica] === "devnet" ? "testnet" : "devnet";
      const held = await gateway?.metric("sluice_lease_held", `network="${foreign}"`);
      if (held !== 0) faults.push(`networks: process ${replica} holds the lease of ${foreign}`);
      const other = newest.find(({ network }) => network === foreign);
      if (other === undefined) continue;
      const answer = await this.#searcher(replica)?.ask(`/bundles/${other.id}`);
      if (answer?.status === 200) faults.push(`networks: process ${replica} shows ${other.id} of ${foreign}`);
    }
    return faults;
  }

  /** Lets every bundle come to its end, and compares it with the chain and the ledger. */
  async end(): Promise<readonly string[]> {
    const faults: string[] = [];
    await eventually(
      "the end of every bundle",
      async () => {
        for (const chain of Object.values(this.#stage.chains)) await chain.admin("devnet_advance", { slots: endSlots });
        faults.push(...(await this.check()));
        return faults.length > 0 || [...this.accepted.values()].every(({ state }) => ended.has(state));
      },
      60_000,
    ).catch(() => null);
    for (const { id, network, state, signature } of this.accepted.values()) {
      if (!ended.has(state)) faults.push(`bundles: ${id} of ${network} has no end, and is ${state}`);
      const landed = await this.#readers[network].landed(signature);
      if ((landed !== null) !== (state === "finalized")) {
        faults.push(`bundles: ${id} of ${network} is ${state}, and the chain has it in ${landed?.slot ?? "no block"}`);
      }
    }
    return [...faults, ...(await this.#inLedger()), ...(await this.#unregistered())];
  }

  /** Who holds a lease is a process that is registered, by the same name. */
  async #unregistered(): Promise<string[]> {
    const statement = "select name, holder from leases where holder <> '' and holder not in (select id from processes)";
    let found: { readonly name: string; readonly holder: string }[] = [];
    await eventually("a registered holder of each lease", async () => {
      found = await this.#stage.postgres.query<{ name: string; holder: string }>(statement);
      return found.length === 0;
    }).catch(() => null);
    return found.map(({ name, holder }) => `leases: ${name} is held by ${holder}, which is not registered`);
  }

  /** Each end is in the ledger, once. */
  async #inLedger(): Promise<string[]> {
    const statement = "SELECT id, count() AS n, any(state) AS state FROM sluice.bundle_outcomes FINAL GROUP BY id";
    let faults: string[] = [];
    const isThere = async (): Promise<boolean> => {
      const rows = await this.#stage.askLedger<{ id: string; n: string; state: string }>(statement);
      const found = new Map(rows.map((row) => [row.id, row]));
      faults = [...this.accepted.values()].flatMap(({ id, state }) => {
        const row = found.get(id);
        if (row === undefined) return [`ledger: ${id} has no end`];
        return row.n === "1" && row.state === state
          ? []
          : [`ledger: ${id} is ${row.state} ${row.n} times, not ${state}`];
      });
      return faults.length === 0;
    };
    await eventually("every end in the ledger", isThere, 30_000).catch(() => null);
    return faults;
  }
}
