import {
  type OracleErrorCode,
  type OracleSymbol,
  oracleBounds,
  oracleErrorTable,
  oracleSymbols,
} from "@sluice/contract/oracle";
import { type Json, jsonText } from "../model/json.ts";
import { echoed, symbolNamed } from "../model/symbol-text.ts";

/** What a client may say. */
export type ClientMessage =
  | { readonly type: "auth"; readonly apiKey: string }
  | { readonly type: "subscribe" | "unsubscribe"; readonly symbols: readonly OracleSymbol[] };

/** Why a message is not taken; the socket stays open. */
export interface MessageFault {
  readonly code: OracleErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, Json>>;
}

export const channel = "prices";
const invalid = (message: string): MessageFault => ({ code: "INVALID_PARAMETER", message });

export const isFault = (read: ClientMessage | MessageFault): read is MessageFault => "code" in read;

/** Reads a client's message; total. */
export function readMessage(text: string): ClientMessage | MessageFault {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("A message is a JSON object");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return invalid("A message is a JSON object");
  const members = new Map(Object.entries(value));
  const type: unknown = members.get("type");
  if (type === "auth") {
    const apiKey: unknown = members.get("api_key");
    return typeof apiKey === "string" ? { type, apiKey } : invalid("auth needs api_key");
  }
  if (type !== "subscribe" && type !== "unsubscribe") return invalid("type is auth, subscribe or unsubscribe");
  if (members.get("channel") !== channel) return invalid(`channel must be ${channel}`);
  const symbols = readSymbols(members.get("symbols"));
  return Array.isArray(symbols) ? { type, symbols } : symbols;
}

function readSymbols(value: unknown): OracleSymbol[] | MessageFault {
  if (!Array.isArray(value) || value.length === 0) return invalid("symbols is a list of at least one symbol");
  if (value.length > oracleBounds.symbolsMax) {
    return { code: "TOO_MANY_SYMBOLS", message: `symbols holds at most ${oracleBounds.symbolsMax}` };
  }
  const symbols = new Set<OracleSymbol>();
  for (const item of value) {
    if (typeof item !== "string") return invalid("symbols is a list of texts");
    const symbol = symbolNamed(item);
    if (symbol === undefined) {
      const shown = echoed(item);
      const details = { symbol: shown, supported: oracleSymbols };
      return { code: "INVALID_SYMBOL", message: `The symbol ${shown} is not supported`, details };
    }
    symbols.add(symbol);
  }
  return [...symbols];
}

export const faultText = ({ code, message, details }: MessageFault): string =>
  jsonText({ type: "error", code, message, ...(details === undefined ? {} : { details }) });

export const errorText = (code: OracleErrorCode): string => faultText({ code, message: oracleErrorTable[code].text });
