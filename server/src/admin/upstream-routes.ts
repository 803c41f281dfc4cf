import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import type { UpstreamBody } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Context, Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State, UpstreamOrder } from "../state/index.ts";
import type { UpstreamAdmin } from "../upstreams/index.ts";
import type { Admission } from "./admin-access.ts";
import { LiveStreams } from "./live-stream.ts";

export interface UpstreamRouteDependencies {
  readonly clock: Clock;
  readonly state: Pick<State, "change">;
  readonly adminAccess: Admission;
  readonly upstreams: Pick<UpstreamAdmin, "list" | "prepare" | "remove" | "follow">;
  /** Aborted when the server drains: live streams end then. */
  readonly closing: AbortSignal;
  /** Between two messages of the live view. */
  readonly liveEveryMs?: number;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;
const root = "/api/v1/admin/upstreams";
const orders: Readonly<Record<string, UpstreamOrder | "open">> = {
  cordon: "cordoned",
  drain: "drained",
  uncordon: "open",
};

/** Nodes at run time: what they are and how they are, and what operators order for them. */
export function addUpstreamRoutes(app: Hono<RestEnvironment>, dependencies: UpstreamRouteDependencies): void {
  const { adminAccess, upstreams, clock, closing, liveEveryMs = 1_000 } = dependencies;
  const live = new LiveStreams({ clock, everyMs: liveEveryMs, closing });

  app.get(root, async (context) => {
    await adminAccess.admit(context, "admin");
    return context.json({ items: upstreams.list() }, 200, { "Cache-Control": "no-store" });
  });
  app.get(`${root}/live`, async (context) => {
    const { accountId, actor } = await adminAccess.admit(context, "admin");
    return live.open({ holder: accountId ?? actor, method: context.req.method }, async () => {
      await adminAccess.admitAgain(context, "admin");
      return { items: upstreams.list() };
    });
  });
  app.post(root, (context) => add(context, dependencies));
  for (const action of Object.keys(orders)) {
    app.post(`${root}/:network/:label/${action}`, (context) => order(context, action, dependencies));
  }
  app.delete(`${root}/:network/:label`, (context) => remove(context, dependencies));
}

type Asked = Context<RestEnvironment>;

async function add(context: Asked, { adminAccess, upstreams, state }: UpstreamRouteDependencies): Promise<Response> {
  const caller = await adminAccess.admit(context, "admin");
  const wish = await readInput(context.req.raw, schemas.upstreamCreate, bodyBounds);
  const prepared = upstreams.prepare(wish);
  const { network, label } = wish;
  const taken = new SluiceError("CONFLICT", { message: `There is a node ${label} on ${network} already` });
  if (!prepared.ok) {
    if (prepared.reason === "taken") throw taken;
    const errors = [{ path: "", message: `expected ${prepared.expected}` }];
    throw new SluiceError("INVALID_INPUT", { details: { errors } });
  }
  const detail = { after: prepared.shown };
  await state.change(async ({ upstreamNodes, audit }) => {
    if (!(await upstreamNodes.add(prepared.node))) throw taken;
    await audit.append({ actor: caller.actor, action: "upstream.add", subject: `${network}/${label}`, detail });
  });
  await upstreams.follow();
  return context.json(bodyOf(upstreams, network, label), 201);
}

async function order(context: Asked, action: string, dependencies: UpstreamRouteDependencies): Promise<Response> {
  const { adminAccess, upstreams, state } = dependencies;
  const caller = await adminAccess.admit(context, "admin");
  const { network, label, before } = found(context, upstreams);
  const requested = orders[action] ?? "open";
  await state.change(async ({ upstreamOrders, audit }) => {
    if (requested === "open") await upstreamOrders.clear(network, label);
    else await upstreamOrders.set({ network, label, order: requested });
    const detail = { before: { order: before.order }, after: { order: requested } };
    await audit.append({ actor: caller.actor, action: `upstream.${action}`, subject: `${network}/${label}`, detail });
  });
  await upstreams.follow();
  return context.json(bodyOf(upstreams, network, label));
}

async function remove(context: Asked, dependencies: UpstreamRouteDependencies): Promise<Response> {
  const { adminAccess, upstreams, state } = dependencies;
  const caller = await adminAccess.admit(context, "admin");
  const { network, label, before } = found(context, upstreams);
  const force = context.req.query("force");
  if (force !== undefined && force !== "true" && force !== "false") {
    const errors = [{ path: "force", message: "must be true or false" }];
    throw new SluiceError("INVALID_INPUT", { details: { errors } });
  }
  if (force !== "true" && (before.order !== "drained" || before.in_flight > 0)) {
    const message =
      before.order === "drained"
        ? `${before.in_flight} calls are still under way on the node`
        : "The node must be drained first";
    throw new SluiceError("CONFLICT", { message, details: { in_flight: before.in_flight } });
  }
  await state.change(async ({ upstreamNodes, upstreamOrders, audit }) => {
    if (before.origin === "run time") {
      await upstreamNodes.remove(network, label);
      await upstreamOrders.clear(network, label);
    } else {
      // Other processes are configured with it, too, as this one is at its next start: nowhere does it get calls.
      await upstreamOrders.set({ network, label, order: "drained" });
    }
    const detail = { before: { order: before.order, in_flight: before.in_flight }, forced: force === "true" };
    await audit.append({ actor: caller.actor, action: "upstream.remove", subject: `${network}/${label}`, detail });
  });
  await upstreams.remove(network, label);
  await upstreams.follow();
  return context.body(null, 204);
}

function found(
  context: Asked,
  upstreams: Pick<UpstreamAdmin, "list">,
): { network: Network; label: string; before: UpstreamBody } {
  const network = networks.find((name) => name === context.req.param("network"));
  const label = context.req.param("label") ?? "";
  if (network === undefined) throw new SluiceError("NOT_FOUND", { message: "There is no such network" });
  return { network, label, before: bodyOf(upstreams, network, label) };
}

function bodyOf(upstreams: Pick<UpstreamAdmin, "list">, network: Network, label: string): UpstreamBody {
  const body = upstreams.list().find((each) => each.network === network && each.label === label);
  if (body === undefined) throw new SluiceError("NOT_FOUND", { message: "There is no such node" });
  return body;
}
