import { creditCost, hasOwnPrice, isPricedByItem, itemsOf } from "@sluice/contract/credits";
import { type RpcMethodSpec, rpcMethods } from "@sluice/contract/rpc";
import { parseJsonExact } from "@sluice/wire/json";
import { detached } from "./envelope.ts";
import { type Planned, planCall, planUnknown } from "./plan.ts";

/** A method with its price and the plans that were made for its recent parameters. */
export interface MethodEntry {
  readonly name: string;
  /** Null for a method that the table does not know. */
  readonly spec: RpcMethodSpec | null;
  /** The name under which calls are recorded: `unknown` for one that no table has, which is its caller's invention. */
  readonly recordedName: string;
  readonly isSend: boolean;
  /** Credits of a call with these parameters. */
  price(params: string | null): number;
  plan(params: string | null): Planned;
}

/** What calls are recorded as whose method no table has; so the ledger's methods are a bounded set. */
export const unknownMethod = "unknown";

function priceOf(method: string, params: string | null): number {
  if (params === null || !isPricedByItem(method)) return creditCost(method);
  const parsed = parseJsonExact(params);
  return parsed.ok ? creditCost(method, itemsOf(method, parsed.value)) : creditCost(method);
}

/** Longer parameters are planned each time: they are rare and would crowd out the rest. */
const rememberedCharactersMax = 1_024;
/** Of methods whose answers are never kept only what is as short as `[{"commitment":"confirmed"}]` comes again. */
const passingCharactersMax = 128;

/** A plan holds the parameters twice more, in canonical form and in its key. */
const costPerCharacter = 6;
const costPerPlan = 500;

/**
 * Remembers plans by the exact text of the parameters. Looking one up costs 0.05 µs, making one 3 to 10 µs, and clients
 * repeat themselves to the byte. Two generations: when the young one is full it becomes the old one, and what is asked
 * for again moves up; so the bound holds without a list of uses.
 */
class PlannedMethod implements MethodEntry {
  readonly name: string;
  readonly spec: RpcMethodSpec;
  readonly recordedName: string;
  readonly isSend: boolean;
  /** Null where the price depends on the parameters. */
  readonly #credits: number | null;
  readonly #spend: (bytes: number) => void;
  #young = new Map<string, Planned>();
  #old = new Map<string, Planned>();

  constructor(spec: RpcMethodSpec, spend: (bytes: number) => void) {
    this.name = spec.name;
    this.spec = spec;
    this.recordedName = spec.name;
    this.#credits = isPricedByItem(spec.name) ? null : creditCost(spec.name);
    this.isSend = spec.name === "sendTransaction";
    this.#spend = spend;
  }

  price(params: string | null): number {
    return this.#credits ?? priceOf(this.name, params);
  }

  plan(params: string | null): Planned {
    const text = params ?? "[]";
    const remembered = this.#young.get(text);
    if (remembered !== undefined) return remembered;
    const lengthMax = this.spec.cache === "never" ? passingCharactersMax : rememberedCharactersMax;
    if (text.length > lengthMax) return planCall(this.spec, params);
    const own = detached(text);
    const planned = this.#old.get(own) ?? planCall(this.spec, params === null ? null : own);
    if (planned.plan.ok) {
      this.#young.set(own, planned);
      this.#spend(text.length * costPerCharacter + costPerPlan);
    }
    return planned;
  }

  rotate(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }
}

export interface MethodRegistryOptions {
  /** Whether methods that the table does not know are passed through. */
  readonly allowUnknownMethods: boolean;
  /** About how much memory remembered plans may take, in bytes, over all methods. */
  readonly rememberedBytesMax?: number;
}

/** Every method with the plans of its recent calls, within one bound. */
export class MethodRegistry {
  readonly #entries: ReadonlyMap<string, PlannedMethod>;
  readonly #allowUnknown: boolean;
  readonly #generationBytesMax: number;
  #generationBytes = 0;

  constructor(options: MethodRegistryOptions) {
    const spend = (bytes: number): void => this.#spend(bytes);
    this.#entries = new Map([...rpcMethods.values()].map((spec) => [spec.name, new PlannedMethod(spec, spend)]));
    this.#allowUnknown = options.allowUnknownMethods;
    this.#generationBytesMax = (options.rememberedBytesMax ?? 32 * 1024 * 1024) / 2;
  }

  /** The entry of a method; null for an unknown method that may not pass. */
  find(name: string): MethodEntry | null {
    const page = this.#entries.get(name);
    if (page !== undefined) return page;
    if (!this.#allowUnknown) return null;
    const recordedName = hasOwnPrice(name) ? name : unknownMethod;
    return {
      name,
      spec: null,
      recordedName,
      isSend: false,
      price: (params) => priceOf(name, params),
      plan: planUnknown,
    };
  }

  #spend(bytes: number): void {
    this.#generationBytes += bytes;
    if (this.#generationBytes < this.#generationBytesMax) return;
    this.#generationBytes = 0;
    for (const page of this.#entries.values()) page.rotate();
  }
}
