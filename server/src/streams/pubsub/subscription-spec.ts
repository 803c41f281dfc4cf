import { type CommitmentName, pubsubMethods } from "@sluice/contract/rpc";
import { invariant } from "@sluice/lib";
import { canonicalJson, type JsonValue, parseJsonExact } from "@sluice/wire/json";

/** The kinds of subscriptions that a node has. */
export const subscriptionKinds = [
  "account",
  "program",
  "logs",
  "signature",
  "block",
  "slot",
  "root",
  "slotsUpdates",
  "vote",
] as const;
export type SubscriptionKind = (typeof subscriptionKinds)[number];

export type SubscriptionConfig = Readonly<Record<string, JsonValue | undefined>>;

/** What is subscribed to. Two calls that mean the same have the same key. */
export interface SubscriptionSpec {
  readonly kind: SubscriptionKind;
  /** JSON text of the parameters as a node is asked, an array. */
  readonly params: string;
  /** The address, signature or filter; null for kinds without one. */
  readonly subject: JsonValue;
  /** The options that were given, but for those that are a node's defaults anyway. */
  readonly config: SubscriptionConfig;
  readonly commitment: CommitmentName;
  readonly key: string;
}

export const subscribeMethod = (kind: SubscriptionKind): string => `${kind}Subscribe`;
export const unsubscribeMethod = (kind: SubscriptionKind): string => `${kind}Unsubscribe`;

/** The kind that a method subscribes to or unsubscribes from; null for any other method. */
export function subscriptionMethod(
  method: string,
): { readonly kind: SubscriptionKind; readonly what: "subscribe" | "unsubscribe" } | null {
  for (const [ending, what] of [
    ["Subscribe", "subscribe"],
    ["Unsubscribe", "unsubscribe"],
  ] as const) {
    if (!method.endsWith(ending)) continue;
    const name = method.slice(0, -ending.length);
    const kind = subscriptionKinds.find((each) => each === name);
    if (kind !== undefined) return { kind, what };
  }
  return null;
}

function asConfig(value: JsonValue | undefined): SubscriptionConfig {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as SubscriptionConfig) : {};
}

/**
 * Reads the parameters of a call that was found to be right. Members that are null and the commitment `finalized` are
 * left out, since a node takes them as absent, and members are ordered.
 */
export function subscriptionSpec(kind: SubscriptionKind, params: string | null): SubscriptionSpec {
  const parsed = parseJsonExact(params ?? "[]");
  invariant(parsed.ok && Array.isArray(parsed.value), "the parameters of a subscription were checked");
  const values = parsed.value as readonly JsonValue[];
  const at = pubsubMethods.get(subscribeMethod(kind))?.config?.index ?? null;
  const given = at === null ? {} : asConfig(values[at]);
  const config = Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== null && !(name === "commitment" && value === "finalized"),
    ),
  );
  const stated = config["commitment"];
  const commitment = stated === "processed" || stated === "confirmed" ? stated : "finalized";
  const subject = at === null || at === 0 ? null : (values[0] ?? null);
  const sent: JsonValue[] = subject === null ? [] : [subject];
  if (Object.keys(config).length > 0) sent.push(config);
  const text = canonicalJson(sent);
  return { kind, params: text, subject, config, commitment, key: `${kind}${text}` };
}
