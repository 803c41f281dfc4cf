import { CodedError } from "@sluice/contract/errors";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { type NameSuffix, nameSuffixes } from "@sluice/wire/name-services";
import { isOnCurve } from "@sluice/wire/program-address";

/** The namespace of a name. One label may have different owners in different namespaces. */
export type NameNamespace = "handle" | NameSuffix;

/** A name and its owner. */
export interface NameResolution {
  /** As it was asked for. */
  readonly input: string;
  /** The canonical name that was resolved; a handle without its `@`. */
  readonly name: string;
  readonly namespace: NameNamespace;
  readonly owner: Address;
  /** False when no key for the owner can exist, so that nothing sent to it comes back. */
  readonly ownerOnCurve: boolean;
}

/**
 * Why a name has no owner. Only `not_registered` means that the name is free; `unavailable` means that the resolver or
 * its node did not answer, that an account could not be read, or that the node's chain has no names of this kind.
 */
export type ResolveFailure = "invalid" | "ambiguous" | "not_registered" | "off_curve" | "unavailable" | "untrusted";

/** The details of a failed resolution besides its code. */
export interface ResolveErrorDetails {
  /** The name as it was requested. */
  readonly input: string;
  /** The resolver's HTTP status; null when it was not asked or did not answer. */
  readonly status: number | null;
}

/** A name without a usable owner. Programs match `code`. */
export class ResolveError extends CodedError<ResolveFailure, ResolveErrorDetails> {
  constructor(code: ResolveFailure, message: string, details: ResolveErrorDetails) {
    super(code, { message, details });
    // A bundler may rename the class.
    this.name = "ResolveError";
  }

  get input(): string {
    return this.details.input;
  }

  get status(): number | null {
    return this.details.status;
  }
}

/** The options of one resolution. */
export interface ResolveOptions {
  /** Refuse a name of any other namespace, without a request. */
  readonly namespace?: NameNamespace;
  /** Return an owner for which no key can exist, instead of throwing. */
  readonly allowOffCurve?: boolean;
  readonly signal?: AbortSignal;
}

/** A client of the name resolver. */
export interface Resolver {
  /**
   * Resolves `@handle`, or a domain with its suffix.
   *
   * @throws {ResolveError} when there is no owner, its answer cannot be trusted, or no answer comes within `timeoutMs`
   */
  resolve(name: string, options?: ResolveOptions): Promise<NameResolution>;
}

/** Where the resolver is, and how it is called. */
export interface ResolverOptions {
  /** The resolver's own address, such as `http://127.0.0.1:8691`. */
  readonly url: string;
  /** Time for one answer in milliseconds; 10,000 when absent. */
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
 * Creates a client of the name resolver. It checks what it can: the answer must be for the requested name, in the
 * namespace that the name claims, and whether a key for the owner can exist is computed here again.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const base = options.url.replace(/\/+$/, "");
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  return {
    async resolve(name, { namespace, allowOffCurve = false, signal } = {}) {
      const claimed = claimedNamespace(name);
      if (claimed === "both")
        throw new ResolveError("ambiguous", `${name} is both a handle and a domain`, { input: name, status: null });
      if (claimed === null || !name.isWellFormed()) {
        throw new ResolveError("invalid", `${name} is neither a handle (@name) nor a domain (name.x1)`, {
          input: name,
          status: null,
        });
      }
      if (namespace !== undefined && namespace !== claimed) {
        throw new ResolveError("invalid", `${name} is not in the namespace ${namespace}`, {
          input: name,
          status: null,
        });
      }
      const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
      const signals = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
      const reply = await ask(call, `${base}/resolve/${encodeURIComponent(name)}`, name, signals);
      const { status } = reply;
      if (status !== 200) throw failureOf(name, reply);
      const resolution = checked(name, claimed, reply.body);
      if (!resolution.ownerOnCurve && !allowOffCurve) {
        throw new ResolveError("off_curve", `${name} belongs to an address without a private key`, {
          input: name,
          status,
        });
      }
      return resolution;
    },
  };
}

type Body = { readonly [member: string]: unknown };

interface Reply {
  readonly status: number;
  readonly body: Body;
  /** The chain of the resolver's node has no program for names of this kind, so an absent name may exist elsewhere. */
  readonly programMissing: boolean;
}

async function ask(
  call: NonNullable<ResolverOptions["fetch"]>,
  url: string,
  name: string,
  signal: AbortSignal,
): Promise<Reply> {
  let status: number | null = null;
  try {
    const response = await call(url, { redirect: "error", signal });
    status = response.status;
    const text = await response.text();
    const body: unknown = text.length > answerLengthMax ? null : JSON.parse(text);
    const programMissing = ["x-domains", "x-handles"].some((header) => response.headers.get(header) === "unavailable");
    if (typeof body === "object" && body !== null) {
      return { status, body: Object.fromEntries(Object.entries(body)), programMissing };
    }
  } catch {
    // Why there is no answer does not change what a caller can do.
  }
  throw unavailable(name, status);
}

const unavailable = (name: string, status: number | null): ResolveError =>
  new ResolveError("unavailable", `${name} could not be resolved: the resolver did not answer`, {
    input: name,
    status,
  });

/**
 * A name is free only when the resolver says so for this name, from a chain that has names; a 404 of a proxy does not
 * count.
 */
function failureOf(name: string, { status, body, programMissing }: Reply): ResolveError {
  const error = typeof body["error"] === "string" ? body["error"] : "";
  const isForName = body["input"] === name;
  if (status === 404 && isForName && !programMissing && /^(handle|domain) not registered$/.test(error)) {
    return new ResolveError("not_registered", `${name} is not registered`, { input: name, status });
  }
  if (status === 400 && isForName) return new ResolveError("invalid", `${name}: ${error}`, { input: name, status });
  if (status === 409 && isForName) return new ResolveError("ambiguous", `${name}: ${error}`, { input: name, status });
  const reason = programMissing ? "the resolver's chain has no such names" : error || `status ${status}`;
  return new ResolveError("unavailable", `${name} could not be resolved: ${reason}`, {
    input: name,
    status,
  });
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
    throw new ResolveError("untrusted", `the answer for ${input} is for something else`, { input, status: 200 });
  }
  return { input, name, namespace: claimed, owner, ownerOnCurve: isOnCurve(bytes) && body["owner_on_curve"] !== false };
}
