import type { JsonObject, JsonValue } from "@sluice/encode";
import { decodeBase58 } from "@sluice/wire/base58";
import type { AccountFilter } from "../accounts/index.ts";
import { type BankSlot, type ChainAccount, isTokenProgram } from "../model/index.ts";
import { type AccountForm, accountForm, presentAccount } from "./accounts.ts";
import { AnswerSize, answerBytesMax, invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import {
  addressValue,
  booleanMember,
  configAt,
  listValue,
  objectValue,
  stringValue,
  u64Value,
  unknownVariant,
  wrongType,
} from "./params.ts";

const filtersMax = 4;
const memcmpBytesMax = 128;
const memcmpBase58Max = 175;
const memcmpBase64Max = 172;

function tooMuch(): Error {
  return invalidParams("Invalid param: DataTooLarge");
}

function bytesOfList(list: readonly JsonValue[]): Uint8Array {
  if (list.length > memcmpBytesMax) throw tooMuch();
  return Uint8Array.from(list, (entry) => {
    const byte = u64Value(entry);
    if (byte > 255n) throw invalidParams(`Invalid params: invalid value: integer \`${byte}\`, expected u8.`);
    return Number(byte);
  });
}

function bytesOfText(text: string, encoding: string): Uint8Array {
  if (encoding === "base64") {
    if (text.length > memcmpBase64Max) throw tooMuch();
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw invalidParams("Invalid param: Invalid");
    return new Uint8Array(Buffer.from(text, "base64"));
  }
  if (text.length > memcmpBase58Max) throw tooMuch();
  const bytes = decodeBase58(text, memcmpBase58Max);
  if (bytes === null) throw invalidParams("Invalid param: Invalid");
  return bytes;
}

function memcmpFilter(memcmp: JsonObject): AccountFilter {
  if (memcmp["offset"] === undefined) throw invalidParams("Invalid params: missing field `offset`.");
  const offset = u64Value(memcmp["offset"], "usize");
  const requested = memcmp["bytes"];
  if (Array.isArray(requested)) return { kind: "memcmp", offset, bytes: bytesOfList(requested) };
  if (requested === undefined) throw invalidParams("Invalid params: missing field `bytes`.");
  const encoding =
    memcmp["encoding"] === undefined || memcmp["encoding"] === null ? "base58" : stringValue(memcmp["encoding"]);
  if (encoding !== "base58" && encoding !== "base64") throw unknownVariant(encoding, ["base58", "base64", "bytes"]);
  const bytes = bytesOfText(stringValue(requested), encoding);
  if (bytes.length > memcmpBytesMax) throw tooMuch();
  return { kind: "memcmp", offset, bytes };
}

function accountFilter(value: JsonValue): AccountFilter {
  if (typeof value === "string") {
    if (value === "tokenAccountState") return { kind: "tokenAccountState" };
    throw unknownVariant(value, ["dataSize", "memcmp", "tokenAccountState"]);
  }
  const filter = objectValue(value, "enum RpcFilterType");
  const [name] = Object.keys(filter);
  if (name === "dataSize") return { kind: "dataSize", size: u64Value(filter["dataSize"]) };
  if (name === "memcmp") return memcmpFilter(objectValue(filter["memcmp"], "struct Memcmp"));
  if (name === undefined) throw wrongType(value, "enum RpcFilterType");
  throw unknownVariant(name, ["dataSize", "memcmp", "tokenAccountState"]);
}

/** The filters of getProgramAccounts and programSubscribe: at most four, all of which must hold. */
export function accountFilters(config: JsonObject | null): readonly AccountFilter[] {
  const requested = config?.["filters"];
  if (requested === undefined || requested === null) return [];
  const list = listValue(requested);
  if (list.length > filtersMax) throw invalidParams(`Too many filters provided; max ${filtersMax}`);
  return list.map(accountFilter);
}

/** Presents accounts up to so many bytes of text; more is a failure of the call, and is not built. */
export function presentAll(
  node: RpcNode,
  bank: BankSlot,
  found: Iterable<readonly [string, ChainAccount]>,
  form: AccountForm,
  bytesMax = answerBytesMax,
): JsonObject[] {
  const rows: JsonObject[] = [];
  const size = new AnswerSize(bytesMax);
  for (const [pubkey, account] of found) {
    rows.push({ pubkey, account: size.take(presentAccount(node, bank, pubkey, account, form)) });
  }
  return rows;
}

/** A node that finds token accounts by owner and mint refuses filters on a part of these keys. */
function refusePartialKeys(program: string, filters: readonly AccountFilter[]): void {
  const asksTokenAccounts = filters.some(
    (filter) => filter.kind === "tokenAccountState" || (filter.kind === "dataSize" && filter.size === 165n),
  );
  if (!isTokenProgram(program) || !asksTokenAccounts) return;
  for (const [offset, name] of [
    [32n, "owner"],
    [0n, "mint"],
  ] as const) {
    for (const filter of filters) {
      if (filter.kind !== "memcmp" || filter.offset !== offset) continue;
      if (filter.bytes.length === 32) return;
      throw invalidParams(`Incorrect byte length ${filter.bytes.length} for SPL token ${name} filter, expected 32`);
    }
  }
}

/** Accounts of a program. */
export const programMethods: MethodTable = {
  getProgramAccounts: {
    required: 1,
    optional: 1,
    run(params, node) {
      const program = addressValue(params[0]);
      const config = configAt(params, 1, "struct RpcProgramAccountsConfig");
      const filters = accountFilters(config);
      refusePartialKeys(program, filters);
      const form = accountForm(config, "binary");
      const contextWanted = booleanMember(config, "withContext", false);
      const sorted = booleanMember(config, "sortResults", true);
      const bank = bankOf(node, config);
      const rows = presentAll(node, bank, node.chain.accounts.find(program, filters, bank.slot, sorted), form);
      return contextWanted ? withContext(bank, rows) : rows;
    },
  },
};
