import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { ManualClock } from "@sluice/lib";
import { AnswerCache } from "../../cache/index.ts";
import type { NodeAnswer, UpstreamCall, UpstreamHealth, UpstreamOutcome, UpstreamPool } from "../../upstreams/index.ts";
import type { Archive, ArchiveCall } from "../archive.ts";
import type { Plan } from "../plan.ts";
import { Rpc, type RpcOutcome } from "../rpc.ts";
import { textOf } from "../sent-answers.ts";

/** An answer of node "a" with this result, as JSON text. */
export function answerOf(result: string, changes: Partial<NodeAnswer> = {}): UpstreamOutcome & { readonly ok: true } {
  const head = `{"jsonrpc":"2.0","result":${result},"id":`;
  const answer: NodeAnswer = {
    label: "a",
    body: { kind: "text", head, tail: "}" },
    sizeBytes: head.length + 1,
    errorCode: null,
    isNull: result === "null",
    contextSlot: null,
    number: null,
    ...changes,
  };
  return { ok: true, answer, latencyMs: 1 };
}

/** Rpc over the real cache and a pool that the test plays. */
export class RpcStand {
  readonly clock = new ManualClock();
  /** The calls that nodes received. */
  readonly calls: UpstreamCall[] = [];
  /** What nodes answer. */
  respond: (call: UpstreamCall) => UpstreamOutcome | Promise<UpstreamOutcome> = () => answerOf("1");
  /** The root that a second node confirms. */
  root: bigint | null = null;
  /** Slots and heights above it no node can have reached. */
  plausibleTo = 1_000n;
  readonly slotsOfNodes = new Map<string, bigint>();
  health: UpstreamHealth[] = [];
  /** What was taken to be followed: who sent it, its parameters and the answer. */
  readonly taken: (readonly [object, string | null, string])[] = [];
  /** History that other processes share, by network and key. */
  readonly history = new Map<string, NodeAnswer>();
  /** What is kept of the chain beside the nodes, and the calls that it was asked about. */
  completes: Archive["complete"] = () => null;
  readonly archived: ArchiveCall[] = [];
  /** Outcomes of look-ups, such as `devnet slot miss`. */
  readonly outcomes: string[] = [];
  readonly cache = new AnswerCache<NodeAnswer, UpstreamOutcome>({}, { clock: this.clock, isLive: () => true });
  readonly #pool = {
    call: async (call: UpstreamCall) => {
      this.calls.push(call);
      return this.respond(call);
    },
    confirmedRoot: () => this.root,
    isPlausible: (_commitment: CommitmentName, slot: bigint) => slot <= this.plausibleTo,
    slotOfNode: (label: string) => this.slotsOfNodes.get(label) ?? null,
    health: () => this.health,
  };
  readonly rpc = new Rpc(
    { allowUnknownMethods: true },
    {
      clock: this.clock,
      cache: this.cache,
      pool: (network) => (network === "testnet" ? null : (this.#pool as unknown as UpstreamPool)),
      sent: { taken: (sent, params, answer) => void this.taken.push([sent, params, answer]) },
      history: {
        find: async (network, key) => this.history.get(`${network} ${key}`) ?? null,
        keep: (network, key, answer) => void this.history.set(`${network} ${key}`, answer),
      },
      archive: {
        complete: (call, outcome) => {
          this.archived.push(call);
          return this.completes(call, outcome);
        },
        indexed: ({ method }) =>
          method === "getTransactionsForAddress"
            ? Promise.resolve({ ok: false, code: "TIER_REQUIRED", message: "older" })
            : null,
      },
      events: { cacheOutcome: (network, lifetime, outcome) => this.outcomes.push(`${network} ${lifetime} ${outcome}`) },
    },
  );

  plan(method: string, params: string | null = null): Plan {
    const planned = this.rpc.method(method)?.plan(params).plan;
    if (planned?.ok !== true) throw new Error(`${method} is not planned`);
    return planned;
  }

  ask(method: string, params: string | null = null, asker: { keyId?: string; network?: Network } = {}) {
    const { keyId = "key", network = "devnet" } = asker;
    const entry = this.rpc.method(method);
    if (entry === null) throw new RangeError(method);
    return this.rpc.ask(network, entry, this.plan(method, params), keyId);
  }

  /** The stored answer that a key is given, as text with the id 0; undefined where nodes have to be asked. */
  known(method: string, params: string | null = null, keyId = "key"): string | undefined {
    const answer = this.rpc.known("devnet", this.plan(method, params), keyId, this.clock.monotonic());
    return answer === undefined ? undefined : textOf(answer);
  }

  /** The heads of all commitments have moved on. */
  slotsMoved(): void {
    for (const commitment of ["processed", "confirmed", "finalized"] as const) {
      this.cache.slotMoved("devnet", commitment);
    }
  }
}

export const resultOf = ({ outcome }: RpcOutcome): unknown =>
  outcome.ok ? JSON.parse(textOf(outcome.answer)).result : outcome.refused;
