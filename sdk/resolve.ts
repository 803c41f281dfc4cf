import { decodeAddress } from "@sluice/wire/base58";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { type NameSuffix, nameSuffixes } from "@sluice/wire/name-services";
import { isOnCurve } from "@sluice/wire/program-address";

/** Where a name lives: the same label may have different owners under different ones. */
export type NameNamespace = "handle" | NameSuffix;

export interface NameResolution {
  /** As it was asked for. */
  readonly input: string;
  /** The canonical name that was resolved; a handle without its `@`. */
  readonly name: string;
  readonly namespace: NameNamespace;
  readonly owner: Address;
  /** False when nobody can sign for the owner, so that nothing sent to it comes back. */
  readonly ownerOnCurve: boolean;
}

/**
 * Why there is no owner. `not_registered` alone means that nobody has the name; `unavailable` (the resolver or its node
 * did not answer, or an account could not be read) never does: resolve in another way, or try again.
 */
export type ResolveFailure = "invalid" | "ambiguous" | "not_registered" | "off_curve" | "unavailable" | "untrusted";

export class ResolveError extends Error {
  readonly code: ResolveFailure;
  readonly input: string;
  /** The resolver's HTTP status; null when it was not asked or did not answer. */
  readonly status: number | null;

  constructor(code: ResolveFailure, input: string, message: string, status: number | null = null) {
    super(message);
    this.name = "ResolveError";
    this.code = code;
    this.input = input;
    this.status = status;
  }
}

export interface ResolveOptions {
  /** Refuse a name of any other namespace, without asking. */
  readonly namespace?: NameNamespace;
  /** Return an owner that nobody can sign for instead of throwing. */
  readonly allowOffCurve?: boolean;
  readonly signal?: AbortSignal;
}

export interface Resolver {
  /** The owner of `@handle`, or of a domain with its suffix. Throws ResolveError for everything but an owner. */
  resolve(name: string, options?: ResolveOptions): Promise<NameResolution>;
}

export interface ResolverOptions {
  /** The resolver's own address, such as `http://127.0.0.1:8691`. */
  readonly url: string;
  /** For one answer; 10 s unless said otherwise. */
  readonly timeoutMs?: number;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const timeoutMsDefault = 10_000;
/** A record holds a name and an address; more than this is something else. */
const answerLengthMax = 65_536;

/** The namespace that a name claims by its shape; null when it claims none, or two. */
function claimedNamespace(name: string): NameNamespace | "both" | null {
  const suffix = nameSuffixes.find((each) => name.trimEnd().toLowerCase().endsWith(`.${each}`));
  if (!/^\p{White_Space}*@/u.test(name)) return suffix ?? null;
  return suffix === undefined ? "handle" : "both";
}

/**
 * A client of the name resolver that trusts it as little as it can: the answer must be for the name that was asked, in
 * the namespace that the name claims, and whether the owner can sign is checked here again.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const base = options.url.replace(/\/+$/, "");
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  return {
    async resolve(name, { namespace, allowOffCurve = false, signal } = {}) {
      const claimed = claimedNamespace(name);
      if (claimed === "both") throw new ResolveError("ambiguous", name, `${name} is both a handle and a domain`);
      if (claimed === null || !name.isWellFormed()) {
        throw new ResolveError("invalid", name, `${name} is neither a handle (@name) nor a domain (name.x1)`);
      }
      if (namespace !== undefined && namespace !== claimed) {
        throw new ResolveError("invalid", name, `${name} is not in the namespace ${namespace}`);
      }
      const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
      const signals = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      const { status, body } = await ask(call, `${base}/resolve/${encodeURIComponent(name)}`, name, signals);
      if (status !== 200) throw failureOf(name, status, body);
      const resolution = checked(name, claimed, body);
      if (!resolution.ownerOnCurve && !allowOffCurve) {
        throw new ResolveError("off_curve", name, `${name} belongs to an address that nobody can sign for`, status);
      }
      return resolution;
    },
  };
}

type Body = { readonly [member: string]: unknown };

async function ask(
  call: NonNullable<ResolverOptions["fetch"]>,
  url: string,
  name: string,
  signal: AbortSignal,
): Promise<{ status: number; body: Body }> {
  let status: number | null = null;
  try {
    const response = await call(url, { redirect: "error", signal });
    status = response.status;
    const text = await response.text();
    const body: unknown = text.length > answerLengthMax ? null : JSON.parse(text);
    if (typeof body === "object" && body !== null) return { status, body: Object.fromEntries(Object.entries(body)) };
  } catch {
    // Why there is no answer does not change what a caller can do.
  }
  throw unavailable(name, status);
}

const unavailable = (name: string, status: number | null): ResolveError =>
  new ResolveError("unavailable", name, `${name} could not be resolved: the resolver did not answer`, status);

/** Only an answer that says so means that nobody has the name: a 404 of a proxy does not. */
function failureOf(name: string, status: number, body: Body): ResolveError {
  const error = typeof body["error"] === "string" ? body["error"] : "";
  const told = body["input"] === name;
  if (status === 404 && told && /^(handle|domain) not registered$/.test(error)) {
    return new ResolveError("not_registered", name, `${name} is not registered`, status);
  }
  if (status === 400 && told) return new ResolveError("invalid", name, `${name}: ${error}`, status);
  if (status === 409 && told) return new ResolveError("ambiguous", name, `${name}: ${error}`, status);
  return new ResolveError("unavailable", name, `${name} could not be resolved: ${error || `status ${status}`}`, status);
}

function checked(input: string, claimed: NameNamespace, body: Body): NameResolution {
  const { name, namespace } = body;
  const owner = parseAddress(body["owner"]);
  const bytes = owner === null ? null : decodeAddress(owner);
  const suffixFits = claimed === "handle" || (typeof name === "string" && name.endsWith(`.${claimed}`));
  if (
    body["input"] !== input ||
    namespace !== claimed ||
    body["verification"] !== "owner" ||
    typeof name !== "string" ||
    !suffixFits ||
    owner === null ||
    bytes === null
  ) {
    throw new ResolveError("untrusted", input, `the answer for ${input} is for something else`, 200);
  }
  return { input, name, namespace: claimed, owner, ownerOnCurve: isOnCurve(bytes) && body["owner_on_curve"] !== false };
}
