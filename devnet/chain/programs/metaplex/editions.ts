import { record, runtimeErrors } from "../runtime.ts";
import { masterEditionBytes, masterEditionKey, metadataErrors, tokenStandard } from "./layout.ts";
import type { MetadataWriter } from "./metadata-writer.ts";

const editionAccounts = {
  edition: 0,
  mint: 1,
  updateAuthority: 2,
  mintAuthority: 3,
  payer: 4,
  metadata: 5,
  token: 6,
  system: 7,
};
const setAuthority = 6;
const supply = 36;
const decimals = 44;
const freezeAuthority = 46;

/** Hands an authority of the mint (0 over units, 1 over freezing) to the edition. */
function handOver(program: MetadataWriter, kind: 0 | 1, data: number): void {
  const { writer, invoker } = program;
  const { asm } = writer;
  asm.store(1, "r9", data, setAuthority);
  asm.store(1, "r9", data + 1, kind);
  asm.store(1, "r9", data + 2, 1);
  writer.account("r1", editionAccounts.edition);
  writer.copyKey(["r1", record.key], ["r9", data + 3]);
  invoker.invoke({
    program: editionAccounts.token,
    accounts: [
      { account: editionAccounts.mint, writes: true },
      { account: editionAccounts.mintAuthority, signs: true },
    ],
    data: { slot: data, length: 35 },
  });
}

/** CreateMasterEditionV3 (tag 17): max_supply as an option of u64. No more units can be minted after it. */
export function createMasterEdition(program: MetadataWriter): void {
  const { writer, maker } = program;
  const { asm } = writer;
  const data = writer.slot(35);
  const [limitless, thawed] = [asm.label("no limit"), asm.label("no freeze authority")];
  writer.log("IX: Create Master Edition v3");
  writer.requireAccounts(8);
  writer.requireData(2);
  writer.requireTokenProgram(editionAccounts.token);
  program.requireMintAuthority(editionAccounts.mint, editionAccounts.mintAuthority);
  writer.account("r1", editionAccounts.mint);
  const single = writer.failure(metadataErrors.editionsMustHaveExactlyOneToken);
  asm.load(8, "r2", "r1", record.data + supply);
  asm.branch("ne", "r2", 1, single);
  asm.load(1, "r2", "r1", record.data + decimals);
  asm.branch("ne", "r2", 0, single);
  program.openMetadata(editionAccounts.metadata, editionAccounts.mint);
  program.requireUpdateAuthority(editionAccounts.updateAuthority);
  const seeds = program.editionSeeds(editionAccounts.mint);
  maker.requireAddress(editionAccounts.edition, seeds);
  maker.create({
    payer: editionAccounts.payer,
    account: editionAccounts.edition,
    system: editionAccounts.system,
    bytes: masterEditionBytes,
    seeds,
  });
  writer.account("r1", editionAccounts.edition);
  asm.store(1, "r1", record.data, masterEditionKey);
  writer.data("r2");
  asm.load(1, "r3", "r2", 1);
  asm.branch("eq", "r3", 0, limitless);
  asm.branch("ne", "r3", 1, writer.failure(runtimeErrors.invalidInstructionData));
  writer.requireData(10);
  writer.account("r1", editionAccounts.edition);
  asm.store(1, "r1", record.data + 9, 1);
  asm.load(8, "r3", "r2", 2);
  asm.store(8, "r1", record.data + 10, "r3");
  asm.place(limitless);
  writer.account("r1", editionAccounts.metadata);
  program.toTokenStandard();
  asm.store(1, "r1", 0, 1);
  asm.store(1, "r1", 1, tokenStandard.nonFungible);
  handOver(program, 0, data);
  writer.account("r1", editionAccounts.mint);
  asm.load(4, "r2", "r1", record.data + freezeAuthority);
  asm.branch("eq", "r2", 0, thawed);
  handOver(program, 1, data);
  asm.place(thawed);
}

const verifyAccounts = { metadata: 0, authority: 1, collectionMint: 3, collection: 4 };

/** VerifyCollection (tag 18): the collection's update authority says that an item is of it. */
export function verifyCollection(program: MetadataWriter): void {
  const { writer } = program;
  const { asm } = writer;
  const wrong = writer.failure(metadataErrors.collectionNotFound);
  writer.log("IX: Verify Collection");
  writer.requireAccounts(6);
  program.openMetadata(verifyAccounts.collection, verifyAccounts.collectionMint);
  program.requireUpdateAuthority(verifyAccounts.authority);
  writer.requireOwned(verifyAccounts.metadata);
  writer.account("r1", verifyAccounts.metadata);
  program.toTokenStandard();
  const none = asm.label("no token standard");
  asm.load(1, "r2", "r1");
  asm.add("r1", 1);
  asm.branch("eq", "r2", 0, none);
  asm.add("r1", 1);
  asm.place(none);
  asm.load(1, "r2", "r1");
  asm.branch("ne", "r2", 1, wrong);
  writer.account("r2", verifyAccounts.collectionMint);
  writer.requireSameKey("r1", 2, "r2", record.key, wrong);
  asm.store(1, "r1", 1, 1);
}

const burnAccounts = { metadata: 0, owner: 1, mint: 2, account: 3, edition: 4, token: 5 };
const tokenInstructions = { burn: 8, closeAccount: 9 } as const;

/** BurnNft (tag 29): the unit is burned, and token account, metadata and edition give their rent to the owner. */
export function burnNft(program: MetadataWriter): void {
  const { writer, invoker, maker } = program;
  const { asm } = writer;
  const data = writer.slot(9);
  writer.log("IX: Burn NFT");
  writer.requireAccounts(6);
  writer.requireSigner(burnAccounts.owner);
  writer.requireTokenProgram(burnAccounts.token);
  program.openMetadata(burnAccounts.metadata, burnAccounts.mint);
  maker.requireAddress(burnAccounts.edition, program.editionSeeds(burnAccounts.mint));
  writer.requireOwned(burnAccounts.edition);
  asm.store(1, "r9", data, tokenInstructions.burn);
  asm.store(8, "r9", data + 1, 1);
  invoker.invoke({
    program: burnAccounts.token,
    accounts: [
      { account: burnAccounts.account, writes: true },
      { account: burnAccounts.mint, writes: true },
      { account: burnAccounts.owner, signs: true },
    ],
    data: { slot: data, length: 9 },
  });
  asm.store(1, "r9", data, tokenInstructions.closeAccount);
  invoker.invoke({
    program: burnAccounts.token,
    accounts: [
      { account: burnAccounts.account, writes: true },
      { account: burnAccounts.owner, writes: true },
      { account: burnAccounts.owner, signs: true },
    ],
    data: { slot: data, length: 1 },
  });
  maker.close(burnAccounts.metadata, burnAccounts.owner);
  maker.close(burnAccounts.edition, burnAccounts.owner);
}
