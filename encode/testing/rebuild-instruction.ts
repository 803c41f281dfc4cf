import {
  AuthorityType,
  createApproveInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeAccount2Instruction,
  createInitializeAccount3Instruction,
  createInitializeAccountInstruction,
  createInitializeImmutableOwnerInstruction,
  createInitializeMintInstruction,
  createMintToInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  ExtensionType,
  TokenInstruction,
} from "@solana/spl-token";
import {
  Authorized,
  Lockup,
  PublicKey,
  StakeProgram,
  SystemProgram,
  type Transaction,
  TransactionInstruction,
} from "@solana/web3.js";
import { isRecord, type JsonRecord, record, texts } from "./fixtures.ts";

interface RebuiltInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

const authorityTypes = Object.entries(AuthorityType).filter(([, value]) => typeof value === "number");

const extensionTypes = Object.entries(ExtensionType).filter(([, value]) => typeof value === "number");

function key(info: JsonRecord, member: string): PublicKey {
  return new PublicKey(String(info[member]));
}

function integer(info: JsonRecord, member: string): bigint {
  return BigInt(String(info[member]));
}

function first(transaction: Transaction): TransactionInstruction {
  const instruction = transaction.instructions[0];
  if (instruction === undefined) throw new TypeError("no instruction");
  return instruction;
}

/** The key that signs, and the members of a multisig. */
function authority(info: JsonRecord, single: string): [PublicKey, PublicKey[]] {
  const multisig = `multisig${single.charAt(0).toUpperCase()}${single.slice(1)}`;
  if (info[multisig] === undefined) return [key(info, single), []];
  return [key(info, multisig), texts(info["signers"]).map((signer) => new PublicKey(signer))];
}

function systemInstruction(type: string, info: JsonRecord): TransactionInstruction {
  const lamports = () => integer(info, "lamports");
  const space = () => Number(info["space"]);
  switch (type) {
    case "createAccount":
      return SystemProgram.createAccount({
        fromPubkey: key(info, "source"),
        newAccountPubkey: key(info, "newAccount"),
        lamports: Number(lamports()),
        space: space(),
        programId: key(info, "owner"),
      });
    case "createAccountWithSeed":
      return SystemProgram.createAccountWithSeed({
        fromPubkey: key(info, "source"),
        newAccountPubkey: key(info, "newAccount"),
        basePubkey: key(info, "base"),
        seed: String(info["seed"]),
        lamports: Number(lamports()),
        space: space(),
        programId: key(info, "owner"),
      });
    case "transfer":
      return SystemProgram.transfer({
        fromPubkey: key(info, "source"),
        toPubkey: key(info, "destination"),
        lamports: lamports(),
      });
    case "assign":
      return SystemProgram.assign({ accountPubkey: key(info, "account"), programId: key(info, "owner") });
    case "allocate":
      return SystemProgram.allocate({ accountPubkey: key(info, "account"), space: space() });
    case "advanceNonce":
      return SystemProgram.nonceAdvance({
        noncePubkey: key(info, "nonceAccount"),
        authorizedPubkey: key(info, "nonceAuthority"),
      });
    default:
      throw new TypeError(`no encoder for system ${type}`);
  }
}

function tokenInstruction(type: string, info: JsonRecord): TransactionInstruction {
  const named = (member: string) => key(info, member);
  const amount = () => integer(info, "amount");
  switch (type) {
    case "transfer":
      return createTransferInstruction(
        named("source"),
        named("destination"),
        ...withAmount(info, "authority", amount()),
      );
    case "approve":
      return createApproveInstruction(named("source"), named("delegate"), ...withAmount(info, "owner", amount()));
    case "revoke":
      return createRevokeInstruction(named("source"), ...authority(info, "owner"));
    case "mintTo":
      return createMintToInstruction(named("mint"), named("account"), ...withAmount(info, "mintAuthority", amount()));
    case "closeAccount":
      return createCloseAccountInstruction(named("account"), named("destination"), ...authority(info, "owner"));
    case "freezeAccount":
      return createFreezeAccountInstruction(named("account"), named("mint"), ...authority(info, "freezeAuthority"));
    case "thawAccount":
      return createThawAccountInstruction(named("account"), named("mint"), ...authority(info, "freezeAuthority"));
    case "transferChecked": {
      const shown = record(info["tokenAmount"]);
      const [owner, signers] = authority(info, "authority");
      const units = integer(shown, "amount");
      const decimals = Number(shown["decimals"]);
      const [source, mint, destination] = [named("source"), named("mint"), named("destination")];
      return createTransferCheckedInstruction(source, mint, destination, owner, units, decimals, signers);
    }
    case "setAuthority": {
      const wanted = String(info["authorityType"]).toLowerCase();
      const kind = authorityTypes.find(([name]) => name.toLowerCase() === wanted)?.[1];
      const [current, signers] = authority(info, "authority");
      const next = info["newAuthority"] === null ? null : named("newAuthority");
      const owned = info["account"] === undefined ? named("mint") : named("account");
      return createSetAuthorityInstruction(owned, current, kind as AuthorityType, next, signers);
    }
    default:
      return tokenInitialization(type, info);
  }
}

function withAmount(info: JsonRecord, single: string, amount: bigint): [PublicKey, bigint, PublicKey[]] {
  const [owner, signers] = authority(info, single);
  return [owner, amount, signers];
}

function tokenInitialization(type: string, info: JsonRecord): TransactionInstruction {
  const named = (member: string) => key(info, member);
  switch (type) {
    case "initializeMint": {
      const freeze = info["freezeAuthority"] === undefined ? null : named("freezeAuthority");
      return createInitializeMintInstruction(named("mint"), Number(info["decimals"]), named("mintAuthority"), freeze);
    }
    case "initializeAccount":
      return createInitializeAccountInstruction(named("account"), named("mint"), named("owner"));
    case "initializeAccount2":
      return createInitializeAccount2Instruction(named("account"), named("mint"), named("owner"));
    case "initializeAccount3":
      return createInitializeAccount3Instruction(named("account"), named("mint"), named("owner"));
    case "initializeImmutableOwner":
      return createInitializeImmutableOwnerInstruction(named("account"), new PublicKey(String(info["programId"])));
    case "getAccountDataSize": {
      const keys = [{ pubkey: named("mint"), isSigner: false, isWritable: false }];
      const types = texts(info["extensionTypes"]).map((name) => {
        const found = extensionTypes.find(([known]) => known.toLowerCase() === name.toLowerCase());
        return Number(found?.[1]);
      });
      const data = Buffer.from([TokenInstruction.GetAccountDataSize, ...types.flatMap((type) => [type, 0])]);
      return new TransactionInstruction({ programId: named("programId"), keys, data });
    }
    default:
      throw new TypeError(`no encoder for token ${type}`);
  }
}

function stakeInstruction(type: string, info: JsonRecord): TransactionInstruction {
  const stakePubkey = key(info, "stakeAccount");
  if (type === "delegate") {
    const [authorizedPubkey, votePubkey] = [key(info, "stakeAuthority"), key(info, "voteAccount")];
    return first(StakeProgram.delegate({ stakePubkey, authorizedPubkey, votePubkey }));
  }
  if (type !== "initialize") throw new TypeError(`no encoder for stake ${type}`);
  const [authorized, lockup] = [record(info["authorized"]), record(info["lockup"])];
  const until: [number, number] = [Number(lockup["unixTimestamp"]), Number(lockup["epoch"])];
  return StakeProgram.initialize({
    stakePubkey,
    authorized: new Authorized(key(authorized, "staker"), key(authorized, "withdrawer")),
    lockup: new Lockup(...until, key(lockup, "custodian")),
  });
}

/** The first form of `create` has no data, and its earliest calls end with the rent sysvar. */
function associatedInstruction(info: JsonRecord, programId: string): TransactionInstruction {
  const members = ["source", "account", "wallet", "mint", "systemProgram", "tokenProgram"];
  if (info["rentSysvar"] !== undefined) members.push("rentSysvar");
  const keys = members.map((member) => ({ pubkey: key(info, member), isSigner: false, isWritable: false }));
  return new TransactionInstruction({ programId: new PublicKey(programId), keys, data: Buffer.alloc(0) });
}

/** The bytes of an instruction that a client was shown in parsed form, by the encoders of other libraries. */
export function rebuildInstruction(shown: JsonRecord): RebuiltInstruction {
  const programId = String(shown["programId"]);
  const parsed = shown["parsed"];
  if (!isRecord(parsed)) return { programId, accounts: [], data: Buffer.from(String(parsed)) };
  const type = String(parsed["type"]);
  const info = { ...record(parsed["info"]), programId };
  const encoders: Record<string, () => TransactionInstruction> = {
    system: () => systemInstruction(type, info),
    "spl-token": () => tokenInstruction(type, info),
    stake: () => stakeInstruction(type, info),
    "spl-associated-token-account": () => associatedInstruction(info, programId),
  };
  const encode = encoders[String(shown["program"])];
  if (encode === undefined) throw new TypeError(`no encoder for ${shown["program"]}`);
  const instruction = encode();
  return { programId, accounts: instruction.keys.map((meta) => meta.pubkey.toBase58()), data: instruction.data };
}
