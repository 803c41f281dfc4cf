import type { Permission } from "@sluice/contract/tiers";
import { compileAddressSet, systemClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../../access/testing/grants.ts";
import type { Grant, KeyRefusal } from "../../../keys/index.ts";
import type { RequestFact } from "../../../ledger/index.ts";
import type { LimitDecision } from "../../../limits/index.ts";
import type { EngineChainError } from "../../model/chain-port.ts";
import { FakeBlockEngineService } from "../../testing/fake-service.ts";
import { testSigner, transfer } from "../../testing/transactions.ts";
import { createEngineHttp } from "../http.ts";

const signer = testSigner();

/** A payment that names no tip account. */
export const transaction = transfer({
  from: signer,
  to: testSigner().address,
  lamports: 5n,
  blockhash: testSigner().address,
});
export const base64 = Buffer.from(transaction).toString("base64");

/** What a request has beside its path: `body` is sent as JSON, `text` as it is. */
interface Asked {
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly address?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  readonly body: any;
}

/**
 * The engine's REST endpoint over a service, keys, limits and a node that the test plays. The keys `good` and
 * `stranger` are of two accounts, of `busy` the store cannot say, and every other key is refused; 10.0.0.9 may use no
 * key.
 */
export class HttpStand {
  readonly engine = new FakeBlockEngineService();
  permissions: Permission[] = ["read", "transactions:write", "bundles:write"];
  methods: Grant["methods"] = null;
  /** Whether the keys of accounts are refused by now, as revoked ones are. */
  isRefused = false;
  /** What limits of keys say. */
  decision: Partial<LimitDecision> = {};
  /** Whether every address has used up its rate. */
  spent = false;
  /** What a node says of a simulation. */
  simulation: bigint | EngineChainError = 1n;
  /** The buckets that tokens were taken from. */
  readonly buckets: string[] = [];
  /** The transactions that were sent to a node. */
  readonly sent: Uint8Array[] = [];
  /** What was recorded. */
  readonly facts: RequestFact[] = [];
  /** Routes with the statuses that were answered. */
  readonly answered: [string, number][] = [];
  readonly #app = createEngineHttp({
    engine: this.engine,
    access: accessOfTests({
      keys: {
        authenticate: (key) => (this.isRefused ? { ok: false, code: "KEY_INACTIVE" } : this.#authenticate(key)),
        remembered: (key) => {
          const grant = this.#authenticate(key);
          return grant.ok ? grant : null;
        },
        checkRestrictions: (_grant, { clientAddress }) => (clientAddress === "10.0.0.9" ? "IP_NOT_ALLOWED" : null),
      },
      limits: {
        take: (bucket, limit, burst) => {
          this.buckets.push(bucket);
          const refuses = bucket.startsWith("engine-address") ? this.spent : this.decision.allowed === false;
          return { allowed: !refuses, limit, burst, remaining: 1, resetAt: 7, retryAfterSeconds: refuses ? 3 : 0 };
        },
      },
      credits: { take: () => true, refund: () => {}, balance: () => ({ remaining: 0, resetsAtMs: 0 }) },
    }),
    trustedProxies: compileAddressSet([]),
    requestId: () => "req_1",
    log: { error: () => {} },
    status: () => ({ service: "sluice-block-engine", version: "1", status: "ok", uptime: 5 }),
    encryptionKeys: () => ({ network: "devnet", keys: [] }),
    send: async (bytes) => {
      this.sent.push(bytes);
      return true;
    },
    simulate: async (params) => {
      if (this.simulation instanceof Error) throw this.simulation;
      return { value: this.simulation, params };
    },
    nowMs: () => 1_000,
    network: "devnet",
    clock: systemClock,
    served: (fact) => this.facts.push(fact),
    answered: (route, status) => this.answered.push([route, status]),
  });

  async ask(path: string, { body, text, headers = {}, method, address = "10.0.0.1" }: Asked = {}): Promise<Answer> {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const request = new Request(`http://engine${path}`, {
      method: method ?? (content === undefined ? "GET" : "POST"),
      headers: { host: "engine", "x-api-key": "good", "content-type": "application/json", ...headers },
      ...(content === undefined ? {} : { body: content }),
    });
    const response = await this.fetch(request, address);
    return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || "null") };
  }

  /** Calls a method of Jito's JSON-RPC under the id "a". */
  call(method: string, params: unknown, path = "/api/v1/bundles"): Promise<Answer> {
    return this.ask(path, { body: { jsonrpc: "2.0", id: "a", method, params } });
  }

  fetch(request: Request, address = "10.0.0.1"): Response | Promise<Response> {
    return this.#app.fetch(request, { socketAddress: address });
  }

  /** A transaction in base64 that pays to a tip account. */
  tipped(): string {
    const [to = signer.address] = this.engine.tipAccounts;
    return Buffer.from(transfer({ from: signer, to, lamports: 5n, blockhash: signer.address })).toString("base64");
  }

  #authenticate(key: string | null): Grant | KeyRefusal {
    const { permissions, methods } = this;
    if (key === "stranger") return { ...grantOfTests, keyId: "other", accountId: "other", permissions };
    if (key === "good") return { ...grantOfTests, keyId: "key", accountId: "account", permissions, methods };
    return { ok: false, code: key === "busy" ? "OVERLOADED" : "INVALID_API_KEY" };
  }
}
