import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";
import { type NamedInstruction, nameAccounts, type ParsedInstruction } from "./named-instruction.ts";

/** Presents an instruction of the System program. Source: Solana JSON-RPC, parsed instructions, system. */
export function parseSystemInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const text = () => data.text(data.u64());
  const variant = data.u32();
  switch (variant) {
    case 0: {
      const info = { ...named("source", "newAccount"), lamports: data.u64(), space: data.u64(), owner: data.address() };
      return { type: "createAccount", info };
    }
    case 1:
      return { type: "assign", info: { ...named("account"), owner: data.address() } };
    case 2:
      return { type: "transfer", info: { ...named("source", "destination"), lamports: data.u64() } };
    case 3: {
      const seeded = { ...named("source", "newAccount"), base: data.address(), seed: text() };
      const info = { ...seeded, lamports: data.u64(), space: data.u64(), owner: data.address() };
      return { type: "createAccountWithSeed", info };
    }
    case 8:
      return { type: "allocate", info: { ...named("account"), space: data.u64() } };
    case 9: {
      const seeded = { ...named("account"), base: data.address(), seed: text() };
      named("account", "base");
      return { type: "allocateWithSeed", info: { ...seeded, space: data.u64(), owner: data.address() } };
    }
    case 10: {
      const seeded = { ...named("account"), base: data.address(), seed: text() };
      named("account", "base");
      return { type: "assignWithSeed", info: { ...seeded, owner: data.address() } };
    }
    case 11: {
      const accounts = named("source", "sourceBase", "destination");
      const info = { ...accounts, lamports: data.u64(), sourceSeed: text(), sourceOwner: data.address() };
      return { type: "transferWithSeed", info };
    }
    case 13:
      return { type: "createAccountAllowPrefund", info: prefunded(data, named) };
    default:
      return parseNonceInstruction(variant, data, named);
  }
}

/** An account that is already funded needs no payer: then neither `source` nor `lamports` is shown. */
function prefunded(data: ByteReader, named: (...names: string[]) => JsonObject): JsonObject {
  const lamports = data.u64();
  const rest = { space: data.u64(), owner: data.address() };
  return lamports === 0n
    ? { ...named("newAccount"), ...rest }
    : { ...named("newAccount", "source"), lamports, ...rest };
}

function parseNonceInstruction(
  variant: number,
  data: ByteReader,
  named: (...names: string[]) => JsonObject,
): ParsedInstruction {
  switch (variant) {
    case 4:
      return { type: "advanceNonce", info: named("nonceAccount", "recentBlockhashesSysvar", "nonceAuthority") };
    case 5: {
      const lamports = data.u64();
      const names = ["nonceAccount", "destination", "recentBlockhashesSysvar", "rentSysvar", "nonceAuthority"];
      return { type: "withdrawFromNonce", info: { ...named(...names), lamports } };
    }
    case 6: {
      const accounts = named("nonceAccount", "recentBlockhashesSysvar", "rentSysvar");
      return { type: "initializeNonce", info: { ...accounts, nonceAuthority: data.address() } };
    }
    case 7: {
      const info = { ...named("nonceAccount", "nonceAuthority"), newAuthorized: data.address() };
      return { type: "authorizeNonce", info };
    }
    case 12:
      return { type: "upgradeNonce", info: named("nonceAccount") };
    default:
      throw new MalformedBytes("The system instruction is unknown.");
  }
}
