import type {
  Webhook,
  WebhookAccepted,
  WebhookCreate,
  WebhookCreated,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookFilters,
  WebhookList,
  WebhookRecovered,
  WebhookSecret,
  WebhookTest,
  WebhookUpdate,
} from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { readAnswer } from "../problem-error.ts";

/** A new webhook; what is left out has its default. */
export type NewWebhook = Pick<WebhookCreate, "url" | "events"> &
  Partial<Omit<WebhookCreate, "url" | "events" | "retry_policy">> & {
    readonly retry_policy?: Partial<WebhookCreate["retry_policy"]>;
  };

/** Changes of a webhook; `filters` replaces all filters. */
export type WebhookChanges = Omit<WebhookUpdate, "retry_policy"> & {
  readonly retry_policy?: Partial<WebhookCreate["retry_policy"]>;
};

/** Which deliveries of a webhook are listed. */
export interface DeliveriesQuery {
  /** 1 to 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Adds deliveries that wait. */
  readonly pending?: boolean;
  readonly status?: "success" | "failed";
}

/** The account's webhooks. Every method throws ProblemError with a code of the reference of errors. */
export interface Webhooks {
  /** The answer holds the secret, which is shown once. */
  create(webhook: NewWebhook): Promise<WebhookCreated>;
  /** All of the account, or of one network. */
  list(options?: { readonly network?: Network }): AsyncGenerator<Webhook>;
  get(id: string): Promise<Webhook>;
  update(id: string, changes: WebhookChanges): Promise<Webhook>;
  delete(id: string): Promise<void>;
  pause(id: string): Promise<Webhook>;
  /** Also of one that the server has disabled. */
  resume(id: string): Promise<Webhook>;
  /** The old secret signs along for 24 hours. */
  rotateSecret(id: string): Promise<WebhookSecret>;
  endOverlap(id: string): Promise<Webhook>;
  test(id: string, test?: Partial<WebhookTest>): Promise<WebhookAccepted>;
  /** Sends again what was given up since then. */
  recover(id: string, since: Date): Promise<WebhookRecovered>;
  deliveries(id: string, query?: DeliveriesQuery): Promise<WebhookDeliveries>;
  delivery(deliveryId: string): Promise<WebhookDeliveryDetail>;
  retry(deliveryId: string): Promise<WebhookAccepted>;
}

/** Where the gateway is, and the key; without a key the requests carry the page's own session. */
export interface WebhooksOptions {
  /** Such as `http://127.0.0.1:8899`. */
  readonly url: string;
  /** With `read`, and `webhooks:write` for changes. */
  readonly key?: string;
  /** `/api/v1/webhooks` when absent. */
  readonly path?: string;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export type { Webhook, WebhookDelivery, WebhookDeliveryDetail, WebhookFilters };

/** Creates a client of webhooks. It opens no connection before the first call. */
export function createWebhooks({
  url,
  key,
  path = "/api/v1/webhooks",
  fetch: call = fetch,
}: WebhooksOptions): Webhooks {
  const root = `${url.replace(/\/+$/, "")}${path}`;
  const ask = async (method: string, place: string, body?: unknown): Promise<Response> => {
    const headers = {
      ...(key === undefined ? {} : { "X-API-Key": key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return await call(`${root}${place}`, { method, credentials: "same-origin", headers, ...sent });
  };
  const read = async <T>(method: string, place: string, body?: unknown): Promise<T> => {
    const answer = await readAnswer<T>(await ask(method, place, body));
    if (answer === null) throw new Error(`${root}${place} was answered without a body`);
    return answer;
  };
  const of = (id: string): string => `/${encodeURIComponent(id)}`;
  return {
    create: (webhook) => read("POST", "", webhook),
    async *list({ network } = {}) {
      let cursor: string | null = null;
      do {
        const query = new URLSearchParams({
          ...(network === undefined ? {} : { network }),
          ...(cursor === null ? {} : { cursor }),
        }).toString();
        const page: WebhookList = await read("GET", query === "" ? "" : `?${query}`);
        yield* page.webhooks;
        cursor = page.next_cursor;
      } while (cursor !== null);
    },
    get: (id) => read("GET", of(id)),
    update: (id, changes) => read("PATCH", of(id), changes),
    delete: async (id) => {
      await readAnswer(await ask("DELETE", of(id)));
    },
    pause: (id) => read("POST", `${of(id)}/pause`),
    resume: (id) => read("POST", `${of(id)}/resume`),
    rotateSecret: (id) => read("POST", `${of(id)}/rotate-secret`),
    endOverlap: (id) => read("POST", `${of(id)}/end-overlap`),
    test: (id, test = {}) => read("POST", `${of(id)}/test`, test),
    recover: (id, since) => read("POST", `${of(id)}/recover`, { since: since.toISOString() }),
    deliveries: (id, { pending = false, ...query } = {}) => {
      const members = Object.entries({ ...query, ...(pending ? { include: "pending" } : {}) });
      const text = new URLSearchParams(members.map(([name, value]) => [name, String(value)])).toString();
      return read("GET", `${of(id)}/deliveries${text === "" ? "" : `?${text}`}`);
    },
    delivery: (deliveryId) => read("GET", `/deliveries${of(deliveryId)}`),
    retry: (deliveryId) => read("POST", `/deliveries${of(deliveryId)}/retry`),
  };
}
