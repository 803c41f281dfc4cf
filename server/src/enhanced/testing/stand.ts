import { SluiceError } from "@sluice/contract/errors";
import { type ManualClock, systemClock } from "@sluice/lib";
import { noPrograms } from "@sluice/parser";
import type { Access } from "../../access/index.ts";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { DevnetRun } from "../../history/testing/devnet-blocks.ts";
import { HeldChainModel } from "../../history/testing/held-chain.ts";
import type { Grant, RestrictionCode } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { createMetrics } from "../../observe/index.ts";
import { answerOf, RpcStand } from "../../rpc/testing/rpc-stand.ts";
import { AssetReader } from "../assets/asset-reader.ts";
import { DasMethods } from "../das/das-methods.ts";
import { createEnhanced, createEnhancedEvents } from "../index.ts";
import { type DocumentOptions, openDocuments } from "../off-chain/open-documents.ts";
import { IndexModel } from "./index-model.ts";

/** Fetches nothing. */
const offline: DocumentOptions = {
  fetches: false,
  ipfsGateway: "https://ipfs.example",
  arweaveGateway: "https://ar.example",
  allowHttp: false,
  allowPrivateCidrs: [],
};

/** The enhanced API over a development chain, with a key that a test changes. */
export class EnhancedStand {
  readonly rpc = new RpcStand();
  readonly facts: RequestFact[] = [];
  readonly refused: string[] = [];
  /** Buckets that were asked for a token, with what was taken. */
  readonly metered: string[] = [];
  readonly metrics = createMetrics({}, { clock: systemClock });
  grant: Grant = grantOfTests;
  restriction: RestrictionCode | null = null;
  isLimited = false;
  creditsLeft = 1_000_000;
  chain: string | null = "chain 1";
  readonly #app: ReturnType<typeof createEnhanced>;
  readonly #methods: DasMethods;

  /** The ledger, over what the chain had confirmed. */
  readonly held: HeldChainModel;
  /** The index of assets. */
  readonly index = new IndexModel();
  readonly prices = new Map<string, { readonly symbol: string; readonly usd: string }>();
  readonly names = new Map<string, string>();

  constructor(
    run: Pick<DevnetRun, "ask"> & Partial<Pick<DevnetRun, "blocks" | "finalized">>,
    documentOptions: DocumentOptions = offline,
  ) {
    this.held = new HeldChainModel(run.blocks ?? [], (run.finalized ?? -1n) + 1n);
    this.rpc.respond = async ({ method, params }) => {
      const text = await run.ask(method, JSON.parse(params ?? "[]"));
      const result = /"result":(.*),"id":7\}\n$/s.exec(text)?.[1];
      if (result === undefined) throw new SluiceError("UPSTREAM_INVALID", { message: text });
      return answerOf(result);
    };
    const { rpc } = this.rpc;
    const events = createEnhancedEvents({ metrics: this.metrics });
    const documents = openDocuments(documentOptions, { clock: this.clock, events });
    const { reads } = this.index;
    this.#methods = new DasMethods({ rpc, documents, reads, assets: new AssetReader({ rpc, compressed: null }) });
    this.#app = createEnhanced(
      {},
      {
        clock: this.clock,
        rpc,
        documents,
        access: this.#access(),
        networkDefault: "devnet",
        requestId: () => "req_1",
        log: {
          error: (fields) => {
            throw new Error("an internal error", { cause: fields });
          },
          warn: () => undefined,
        },
        served: (fact) => this.facts.push(fact),
        refused: (code) => this.refused.push(code),
        chainOf: () => this.chain,
        events,
        leaves: null,
        chain: this.held,
        keptSince: () => null,
        prices: {
          symbolOf: (_network, mint) => this.prices.get(mint)?.symbol ?? null,
          symbolsOf: () => new Set([...this.prices.values()].map(({ symbol }) => symbol)),
          now: async () => new Map([...this.prices.values()].map(({ symbol, usd }) => [symbol, usd])),
        },
        primaryName: async (_network, address) => this.names.get(address) ?? null,
        transactionUrl: (signature) => `http://console/${signature}`,
        programs: noPrograms,
        nativeSymbol: "SOL",
      },
    );
  }

  get clock(): ManualClock {
    return this.rpc.clock;
  }

  async ask(path: string, init: RequestInit = {}) {
    const headers = { "x-api-key": "good", ...init.headers };
    const response = await this.#app.fetch(new Request(`http://gateway${path}`, { ...init, headers }));
    const text = await response.text();
    // Answers differ by route; a test reads the members that it names.
    return { status: response.status, headers: response.headers, text, body: text === "" ? {} : JSON.parse(text) };
  }

  /** The same of somebody who was admitted already, by the stand's own grant. */
  async askAdmitted(path: string) {
    const viewer = { grant: this.grant, network: "devnet" } as const;
    const response = await this.#app.fetchFor(viewer, new Request(`http://console${path}`));
    // Answers differ by route; a test reads the members that it names.
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  /** A method over digital assets, as the gateway has it answered. */
  async call(method: string, params: object) {
    const text = await this.callText(method, params);
    // Answers differ by method; a test reads the members that it names.
    return JSON.parse(text);
  }

  async callText(method: string, params: object): Promise<string> {
    const asking = { network: "devnet", keyId: "key", nowMs: this.clock.monotonic() } as const;
    const answered = await this.#methods.answer({ method, params: JSON.stringify(params), ...asking });
    if (!answered.ok) return JSON.stringify({ refused: answered.code, message: answered.message });
    const { body } = answered.answer;
    if (body.kind === "large") throw new TypeError("an answer of this API is whole");
    return `${body.head}1${body.tail}`;
  }

  parse(transactions: unknown, path = "/api/v1/v0/transactions") {
    const headers = { "content-type": "application/json" };
    return this.ask(path, { method: "POST", body: JSON.stringify({ transactions }), headers });
  }

  #access(): Access {
    return accessOfTests({
      keys: {
        authenticate: (presented) => (presented === "good" ? this.grant : { ok: false, code: "INVALID_API_KEY" }),
        checkRestrictions: () => this.restriction,
      },
      limits: {
        take: (bucket, rate, burst, cost) => {
          this.metered.push(`${bucket} ${cost}`);
          const state = { limit: rate, burst, remaining: burst - 1, resetAt: 1, retryAfterSeconds: 2 };
          return { allowed: !this.isLimited, ...state };
        },
      },
      credits: {
        take: (_account, _monthly, cost) => {
          if (this.creditsLeft < cost) return false;
          this.creditsLeft -= cost;
          return true;
        },
        refund: (_account, cost) => {
          this.creditsLeft += cost;
        },
        balance: () => ({ remaining: this.creditsLeft, resetsAtMs: 0 }),
      },
    });
  }
}
