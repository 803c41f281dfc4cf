import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Network, networks, type Permission, type PlatformTier } from "@sluice/contract/tiers";
import { ManualClock, SecretVault, seededRandom, systemClock } from "@sluice/lib";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { accessOfTests, grantOfTests } from "../../../access/testing/grants.ts";
import type { RequestFact } from "../../../ledger/index.ts";
import { createAddressRules } from "../../../net/index.ts";
import { openState, type State } from "../../../state/index.ts";
import { WebhookSecrets } from "../../model/webhook-secrets.ts";
import { createWebhookHttp, webhooksPath } from "../http.ts";
import { WebhookManagement } from "../webhook-management.ts";

const random = seededRandom(7);
const clock = new ManualClock(1_790_000_000_000);
const secrets = new WebhookSecrets({ random, vault: new SecretVault("ab".repeat(32), random) });
export const address = (): string => addressOfBytes(random.bytes(32));
export const url = "https://example.com/events";

interface Sent {
  readonly method?: string;
  /** Sent as JSON unless it is text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Whatever a body holds is what its test compares.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

/** Status and code of an answer, and the paths of its faults. */
export const said = ({ status, body }: Answer): unknown[] => [
  status,
  ...(body?.code === undefined ? [] : [body.code]),
  ...(body?.errors ?? []).map(({ path }: { path: string }) => path),
];

/** The management of webhooks over a state of its own, for the tests of a file; each has an account of its own. */
export function managementStand() {
  const caller = {
    accountId: "",
    tier: "enterprise" as PlatformTier,
    permissions: ["read", "webhooks:write"] as readonly Permission[],
    networks: null as readonly Network[] | null,
    isLimited: false,
    hasAccountSource: false,
    followed: networks as readonly Network[],
  };
  let state: State;
  let directory = "";
  let app: ReturnType<typeof createWebhookHttp>;
  const facts: RequestFact[] = [];
  const refused: string[] = [];
  const told: string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
    const log = { info: () => undefined, warn: () => undefined };
    state = await openState({ directory, databaseUrl: null }, { clock, random, log });
  });
  afterAll(async () => {
    await state?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    const { id } = await state.accounts.create({ name: "owner" });
    Object.assign(caller, {
      accountId: id,
      tier: "enterprise",
      permissions: ["read", "webhooks:write"],
      networks: null,
    });
    Object.assign(caller, { isLimited: false, hasAccountSource: false, followed: networks });
    for (const list of [facts, refused, told]) list.length = 0;
    const access = accessOfTests({
      keys: {
        authenticate: (presented) =>
          presented === "good"
            ? { ...grantOfTests, accountId: caller.accountId, tier: caller.tier, permissions: caller.permissions }
            : { ok: false, code: "INVALID_API_KEY" },
        checkRestrictions: (_grant, { network }) =>
          network !== null && caller.networks !== null && !caller.networks.includes(network)
            ? "NETWORK_NOT_ALLOWED"
            : null,
      },
      limits: {
        take: () => ({
          ...{ allowed: !caller.isLimited, limit: 50, burst: 100, remaining: 99, resetAt: 1, retryAfterSeconds: 2 },
        }),
      },
    });
    app = createWebhookHttp({
      networkDefault: "devnet",
      access,
      webhooks: new WebhookManagement(
        { target: { allowHttp: false, addresses: createAddressRules(["10.1.0.0/16"]) } },
        {
          clock,
          store: state.webhooks,
          secrets,
          deleted: () => told.push("deleted"),
          changed: () => told.push("changed"),
          hasAccountSource: () => caller.hasAccountSource,
          followed: () => caller.followed,
        },
      ),
      deliveries: null,
      clock: systemClock,
      log: { error: (_fields, message) => expect(message).toBe("") },
      requestId: () => "req_1",
      served: (fact) => facts.push(fact),
      refused: (code) => refused.push(code),
    });
  });

  async function ask(path: string, { method = "GET", body, headers = {} }: Sent = {}): Promise<Answer> {
    const init = {
      method,
      headers: {
        "x-api-key": "good",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    };
    const response = await app.fetch(new Request(`http://gateway${webhooksPath}${path}`, init));
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }
  const create = (body: object, headers: Record<string, string> = {}) =>
    ask("", { method: "POST", body: { url, events: ["transaction.confirmed"], ...body }, headers });
  const post = (path: string, body?: unknown) => ask(path, { method: "POST", ...(body === undefined ? {} : { body }) });

  return {
    ...{ caller, clock, secrets, facts, refused, told, ask, create, post },
    get state(): State {
      return state;
    },
  };
}
