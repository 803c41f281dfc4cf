import type { MetadataWriter } from "./metadata-writer.ts";

const AT = { metadata: 0, owner: 1, mint: 2, account: 3, edition: 4, token: 5 };
const TOKEN = { burn: 8, closeAccount: 9 } as const;

/** BurnNft (tag 29): the unit is burned, and token account, metadata and edition give their rent to the owner. */
export function burnNft(program: MetadataWriter): void {
  const { writer, invoker, maker } = program;
  const { asm } = writer;
  const data = writer.slot(9);
  writer.log("IX: Burn NFT");
  writer.requireAccounts(6);
  writer.requireSigner(AT.owner);
  writer.requireTokenProgram(AT.token);
  program.openMetadata(AT.metadata, AT.mint);
  maker.requireAddress(AT.edition, program.editionSeeds(AT.mint));
  writer.requireOwned(AT.edition);
  asm.store(1, "r9", data, TOKEN.burn);
  asm.store(8, "r9", data + 1, 1);
  invoker.invoke({
    program: AT.token,
    accounts: [
      { account: AT.account, writes: true },
      { account: AT.mint, writes: true },
      { account: AT.owner, signs: true },
    ],
    data: { slot: data, length: 9 },
  });
  asm.store(1, "r9", data, TOKEN.closeAccount);
  invoker.invoke({
    program: AT.token,
    accounts: [
      { account: AT.account, writes: true },
      { account: AT.owner, writes: true },
      { account: AT.owner, signs: true },
    ],
    data: { slot: data, length: 1 },
  });
  maker.close(AT.metadata, AT.owner);
  maker.close(AT.edition, AT.owner);
}
