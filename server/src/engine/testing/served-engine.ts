import { type Clock, compileAddressSet, ManualClock, seededRandom, systemClock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { Grant, KeyRefusal, Keys } from "../../keys/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import type { GrpcContext } from "../../net/index.ts";
import { type CertificateSource, GrpcServer } from "../../net/index.ts";
import { createSearcherServices } from "../grpc/index.ts";
import { createSignIn, tokenKeysOf } from "../sign-in/index.ts";
import { createValidators, type ValidatorRegistry } from "../validators/index.ts";
import { EventLog } from "./event-log.ts";
import { addressOf, allowed, FakeBlockEngineService } from "./fake-service.ts";

export const keysOfTests = {
  whole: "sk_dev_whole",
  reader: "sk_dev_reader",
  other: "sk_dev_other",
  elsewhere: "sk_dev_elsewhere",
  overloaded: "sk_dev_overloaded",
} as const;

/** Keys by their text; `revoked` ones are refused from then on. */
class FakeKeys implements Pick<Keys, "authenticate" | "checkRestrictions"> {
  readonly revoked = new Set<string>();
  /** Whose restrictions were checked, as the endpoint described them. */
  readonly callers: Parameters<Keys["checkRestrictions"]>[1][] = [];

  authenticate(presented: string | null): Grant | KeyRefusal {
    if (presented === keysOfTests.overloaded) return { ok: false, code: "OVERLOADED" };
    const known = Object.values<string | null>(keysOfTests).includes(presented);
    if (presented === null || !known || this.revoked.has(presented)) return { ok: false, code: "INVALID_API_KEY" };
    const permissions = presented === keysOfTests.reader ? (["read"] as const) : grantOfTests.permissions;
    return { ...grantOfTests, keyId: presented, accountId: `account of ${presented}`, permissions };
  }

  checkRestrictions({ keyId }: Grant, caller: Parameters<Keys["checkRestrictions"]>[1]): "IP_NOT_ALLOWED" | null {
    this.callers.push(caller);
    return keyId === keysOfTests.elsewhere ? "IP_NOT_ALLOWED" : null;
  }
}

/** The engine's gRPC endpoints on a port of their own, in front of a service that the test plays. */
export interface ServedEngine extends AsyncDisposable {
  readonly port: number;
  readonly endpoint: GrpcServer;
  readonly engine: FakeBlockEngineService;
  readonly keys: FakeKeys;
  /** The server's clock, unless it was given another. */
  readonly clock: ManualClock;
  /** Identities in the leader schedule. */
  readonly scheduled: Set<Address>;
  readonly validators: ValidatorRegistry["validators"];
  /** What was reported, such as `gone <identity> left`. */
  readonly reported: EventLog;
  readonly faults: unknown[];
  /** The records of what was refused. */
  readonly facts: RequestFact[];
  /** Buckets that are empty. */
  readonly empty: Set<string>;
  /** Accounts of public keys. */
  readonly linked: Map<Address, string>;
  recheck(): Promise<void>;
}

export interface ServedEngineOptions {
  /** The operator's list of validators. */
  readonly allowed?: ReadonlySet<Address>;
  readonly tls?: CertificateSource;
  /** For clients who compare the ends of tokens with their own clock. */
  readonly clock?: Clock;
}

export async function serveEngine(options: ServedEngineOptions = {}): Promise<ServedEngine> {
  const engine = new FakeBlockEngineService();
  const keys = new FakeKeys();
  const manual = new ManualClock(1_800_000_000_000);
  const clock = options.clock ?? manual;
  const random = seededRandom(11);
  const scheduled = new Set<Address>();
  const reported = new EventLog();
  const faults: unknown[] = [];
  const facts: RequestFact[] = [];
  const empty = new Set<string>();
  const linked = new Map<Address, string>();
  const limits: RateLimiter = {
    take: (bucket) => (empty.has(bucket) ? { ...allowed, allowed: false, retryAfterSeconds: 3 } : allowed),
  };
  let requests = 0;
  const host: GrpcContext = {
    requestId: () => `req_${++requests}`,
    trustedProxies: compileAddressSet([]),
    events: {
      callEnded: (method, status) => reported.push(`call ${method} ${status}`),
      streamOpened: (method) => reported.push(`open ${method}`),
      streamClosed: (method) => reported.push(`close ${method}`),
      internalError: (_where, error) => void faults.push(error),
    },
  };
  const leaders = createValidators(
    {
      blockEngineUrl: "http://engine.example:7440",
      fee: { pubkey: addressOf(77), commission: 5 },
      allowed: options.allowed ?? null,
    },
    {
      clock,
      schedule: { isScheduled: (identity) => scheduled.has(identity) },
      events: {
        validatorConnected: (identity) => reported.push(`connected ${identity}`),
        validatorGone: (identity, why) => reported.push(`gone ${identity} ${why}`),
      },
    },
  );
  const seed = new Uint8Array(32).fill(9);
  const signIn = createSignIn(tokenKeysOf(seed), { clock, random, limits, host, mayValidate: leaders.mayValidate });
  const searchers = createSearcherServices({
    network: "devnet",
    clock,
    served: (fact) => void facts.push(fact),
    host,
    engine,
    access: accessOfTests({ keys, limits }),
    limits,
    bearers: signIn.bearers,
    region: "localnet",
    linked: { accountOfPubkey: (pubkey) => linked.get(pubkey) ?? null },
  });
  const services = [signIn.service, ...searchers.services, ...leaders.services(host, signIn.bearers)];
  const endpoint = await GrpcServer.open(
    { endpoint: "engine", hostname: "127.0.0.1", port: 0, tls: options.tls ?? null },
    { clock: systemClock, services, isServing: () => !engine.isInMaintenance },
  );
  return {
    port: endpoint.port,
    endpoint,
    engine,
    keys,
    clock: manual,
    scheduled,
    validators: leaders.validators,
    reported,
    faults,
    facts,
    empty,
    linked,
    recheck: () => searchers.recheck(),
    [Symbol.asyncDispose]: () => endpoint.stop(100),
  };
}
