import { type CommitmentName, commitments } from "@sluice/contract/rpc";
import { encodeBase58 } from "@sluice/wire/base58";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import type { SubscriptionConfig } from "./subscription-spec.ts";

type Account = Readonly<Record<string, JsonValue | undefined>>;

/** Data that base58 presents at most, in bytes (source: Solana JSON-RPC, limits). */
const base58BytesMax = 128;
const tooLarge = "error: data too large for bs58 encoding";

const isObject = (value: JsonValue | undefined): value is Account =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const encodingOf = (config: SubscriptionConfig): string =>
  typeof config["encoding"] === "string" ? config["encoding"] : "binary";

/**
 * The encoding in which a state is read for a subscription: base58 has no form for larger data in an answer, though it
 * has one in a notification.
 */
export function readEncoding(config: SubscriptionConfig): string {
  const encoding = encodingOf(config);
  return encoding === "binary" || encoding === "base58" ? "base64" : encoding;
}

/** The text of an account as notifications of this configuration present it; null for one that cannot be read. */
export function presentedAccount(account: JsonValue | undefined, config: SubscriptionConfig): string | null {
  const encoding = encodingOf(config);
  if (account === null) return stringifyJsonExact(deleted(encoding));
  if (!isObject(account)) return null;
  if (encoding !== "binary" && encoding !== "base58") return stringifyJsonExact(account);
  const data = Array.isArray(account["data"]) ? account["data"][0] : undefined;
  if (typeof data !== "string") return null;
  const bytes = Buffer.from(data, "base64");
  const text = bytes.length > base58BytesMax ? tooLarge : encodeBase58(bytes);
  return stringifyJsonExact({ ...account, data: encoding === "binary" ? text : [text, "base58"] });
}

/** A node notifies of an account that is gone as of one that is empty. */
function deleted(encoding: string): JsonValue {
  const zstd = () => [Buffer.from(Bun.zstdCompressSync(new Uint8Array())).toString("base64"), encoding];
  const data =
    encoding === "binary"
      ? ""
      : encoding === "base64+zstd"
        ? zstd()
        : ["", encoding === "jsonParsed" ? "base64" : encoding];
  return { lamports: 0, data, owner: programs.system, executable: false, rentEpoch: 0, space: 0 };
}

/** The context's slot and the value of a node's answer; null for any other answer. */
export function readAnswer(text: string): { readonly slot: bigint; readonly value: JsonValue } | null {
  const parsed = parseJsonExact(text);
  const result = parsed.ok && isObject(parsed.value) ? parsed.value["result"] : undefined;
  const context = isObject(result) ? result["context"] : undefined;
  const slot = isObject(context) ? context["slot"] : undefined;
  if (!isObject(result) || (typeof slot !== "number" && typeof slot !== "bigint")) return null;
  return { slot: BigInt(slot), value: result["value"] ?? null };
}

/** The accounts of an answer to getProgramAccounts with a context. */
export function programAccounts(
  value: JsonValue,
): readonly { readonly address: string; readonly account: JsonValue }[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).flatMap((each) => {
    const [address, account] = isObject(each) ? [each["pubkey"], each["account"]] : [];
    return typeof address === "string" && account !== undefined ? [{ address, account }] : [];
  });
}

/** A node's words on a signature that it knows. */
export interface KnownSignature {
  readonly slot: bigint;
  readonly commitment: CommitmentName;
  /** JSON text. */
  readonly error: string;
}

/** The statuses of an answer to getSignatureStatuses, in the order of the question; null for one that is not known. */
export function signatureStatuses(value: JsonValue): readonly (KnownSignature | null)[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).map((status) => {
    const slot = isObject(status) ? status["slot"] : null;
    if (!isObject(status) || (typeof slot !== "number" && typeof slot !== "bigint")) return null;
    const reached = commitments.find((each) => each === status["confirmationStatus"]);
    // A node without the member has rooted what it counts no confirmations of.
    const commitment = reached ?? (status["confirmations"] === null ? "finalized" : "processed");
    return { slot: BigInt(slot), commitment, error: stringifyJsonExact(status["err"] ?? null) };
  });
}
