import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { type NamedInstruction, nameAccounts, type ParsedInstruction, variantName } from "./named-instruction.ts";

const updated = ["metadata", "updateAuthority"];

/**
 * Presents an instruction of the token metadata or token group interface. Their tags are the first eight bytes of the
 * SHA-256 of the instruction's name in its interface.
 */
export function parseTokenInterfaceInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const tag = Buffer.from(data.bytes(8)).toString("hex");
  return parseMetadata(tag, instruction, data) ?? parseGroup(tag, instruction, data);
}

function parseMetadata(tag: string, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const text = () => data.text(data.u32());
  switch (tag) {
    case "d2e11ea258b84d8d": {
      const accounts = named(...updated, "mint", "mintAuthority");
      return { type: "initializeTokenMetadata", info: { ...accounts, name: text(), symbol: text(), uri: text() } };
    }
    case "dde9312db5cadcc8": {
      const variant = data.u8();
      const field = variant === 3 ? text() : variantName(["name", "symbol", "uri"], variant);
      return { type: "updateTokenMetadataField", info: { ...named(...updated), field, value: text() } };
    }
    case "ea122038598d25b5": {
      const idempotent = data.flag();
      return { type: "removeTokenMetadataKey", info: { ...named(...updated), key: text(), idempotent } };
    }
    case "d7e4a6e45464567b": {
      const newAuthority = data.addressOrZeros();
      return { type: "updateTokenMetadataAuthority", info: { ...named(...updated), newAuthority } };
    }
    case "faa6b4fa0d0cb846": {
      const start = data.optional(() => data.u64());
      const end = data.optional(() => data.u64());
      const range = { ...(start !== null && { start }), ...(end !== null && { end }) };
      return { type: "emitTokenMetadata", info: { ...named("metadata"), ...range } };
    }
    default:
      return null;
  }
}

function parseGroup(tag: string, instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  switch (tag) {
    case "79716c2736330004": {
      const updateAuthority = data.addressOrZeros();
      const info = { ...named("group", "mint", "mintAuthority"), updateAuthority, maxSize: data.u64() };
      return { type: "initializeTokenGroup", info };
    }
    case "6c25ab8ff81e126e":
      return {
        type: "updateTokenGroupMaxSize",
        info: { ...named("group", "updateAuthority"), maxSize: data.u64() },
      };
    case "a1695801edddd8cb": {
      const info = { ...named("group", "updateAuthority"), newAuthority: data.addressOrZeros() };
      return { type: "updateTokenGroupAuthority", info };
    }
    case "9820deb0dfed7486": {
      const names = ["member", "memberMint", "memberMintAuthority", "group", "groupUpdateAuthority"];
      return { type: "initializeTokenGroupMember", info: named(...names) };
    }
    default:
      throw new MalformedBytes("The token instruction is unknown.");
  }
}
