/** The shapes in which Solana's JSON-RPC methods are described; rpc-methods.ts is the table. */

/** Commitment levels, the weakest first. */
export const commitments = ["processed", "confirmed", "finalized"] as const;
export type CommitmentName = (typeof commitments)[number];

/**
 * `final`: an answer about finalized history never changes. `slot`: valid until the next slot of its commitment.
 * `never`: writes, simulations, and what differs by node or by moment.
 */
export type CacheClass = "final" | "slot" | "never";

/**
 * How a value is checked. `any` is passed to the node unchecked. Text kinds are base58 of a fixed length unless stated.
 */
export type ParameterKind =
  | {
      readonly kind:
        | "address"
        | "signature"
        | "blockhash"
        | "text"
        | "transaction"
        | "boolean"
        | "dataSlice"
        | "any"
        | "object"
        | "tokenFilter"
        | "logsFilter"
        | "blockFilter";
    }
  | { readonly kind: "integer"; readonly min: bigint; readonly max: bigint }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "addresses" | "signatures" | "list"; readonly max: number };

/**
 * How an answer says how far the chain was. `context`: by `result.context.slot`, where it has one. `slot`, `height`:
 * the result is a slot or a block height of the call's commitment. `epoch`: it has members for both. `counter`: it is
 * a slot of another kind, which goes on by itself.
 */
export type AnswerPosition = "context" | "slot" | "height" | "epoch" | "counter";

/** One positional parameter. */
export interface ParameterSpec {
  readonly name: string;
  readonly required: boolean;
  readonly value: ParameterKind;
  /** The end of a range that begins at the first parameter: at most this much beyond it. */
  readonly rangeMax?: bigint;
}

/** The configuration object of a method. */
export interface ConfigSpec {
  /** The position of the configuration object among the parameters. */
  readonly index: number;
  readonly fields: Readonly<Record<string, ParameterKind>>;
  /** Old clients may send the encoding alone, as a string, in place of the object. */
  readonly bareEncoding: boolean;
  /** Old clients may send the object one place (or more) earlier, leaving out optional parameters before it. */
  readonly earliestIndex: number;
}

/** One JSON-RPC method as the gateway validates, completes, caches and routes it. */
export interface RpcMethodSpec {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  readonly config: ConfigSpec | null;
  readonly cache: CacheClass;
  /** The least commitment the node accepts; null where the method knows no commitment. */
  readonly commitment: { readonly least: CommitmentName } | null;
  /** Values put into the configuration object when the caller gives none (the specification's row states them). */
  readonly defaults: Readonly<Record<string, string>>;
  /**
   * `read` may be repeated on another node, `archive` likewise where history is kept, `send` goes out exactly once;
   * `gateway` and `assets` go to no node, and `assets` is part of the enhanced API.
   */
  readonly route: "read" | "archive" | "send" | "gateway" | "assets";
  /** Whether parameters stand by name, as the members of the one object. */
  readonly named: boolean;
  /** By what later answers to a key are kept from going back. */
  readonly position: AnswerPosition;
}

/** What `describeMethod` takes beside name and positional parameters; an absent member has the usual value. */
export interface MethodOptions {
  readonly cache: CacheClass;
  readonly config?: Readonly<Record<string, ParameterKind>>;
  readonly bareEncoding?: boolean;
  readonly earliestIndex?: number;
  readonly defaults?: Readonly<Record<string, string>>;
  readonly route?: RpcMethodSpec["route"];
  readonly named?: boolean;
  readonly position?: AnswerPosition;
}

/**
 * Completes a description: the configuration object follows the positional parameters unless `earliestIndex` says
 * otherwise.
 */
export function describeMethod(
  name: string,
  parameters: readonly ParameterSpec[],
  options: MethodOptions,
): RpcMethodSpec {
  const fields = options.config;
  const commitment = fields?.["commitment"];
  const least = commitment?.kind === "choice" && !commitment.values.includes("processed") ? "confirmed" : "processed";
  return {
    name,
    parameters,
    config:
      fields === undefined
        ? null
        : {
            index: parameters.length,
            fields,
            bareEncoding: options.bareEncoding ?? false,
            earliestIndex: options.earliestIndex ?? parameters.length,
          },
    cache: options.cache,
    commitment: commitment === undefined ? null : { least },
    defaults: options.defaults ?? {},
    route: options.route ?? "read",
    named: options.named ?? false,
    position: options.position ?? "context",
  };
}
