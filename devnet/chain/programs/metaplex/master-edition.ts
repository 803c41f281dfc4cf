import { record, runtimeErrors } from "../runtime.ts";
import { masterEditionBytes, masterEditionKey, metadataErrors, tokenStandard } from "./layout.ts";
import type { MetadataWriter } from "./metadata-writer.ts";

const at = { edition: 0, mint: 1, updateAuthority: 2, mintAuthority: 3, payer: 4, metadata: 5, token: 6, system: 7 };
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
  writer.account("r1", at.edition);
  for (let word = 0; word < 32; word += 8) {
    asm.load(8, "r2", "r1", record.key + word);
    asm.store(8, "r9", data + 3 + word, "r2");
  }
  invoker.invoke({
    program: at.token,
    accounts: [
      { account: at.mint, writes: true },
      { account: at.mintAuthority, signs: true },
    ],
    data: { slot: data, length: 35 },
  });
}

/** CreateMasterEditionV3 (tag 17): max_supply as an option of u64. From then on nobody mints more units. */
export function createMasterEdition(program: MetadataWriter): void {
  const { writer, maker } = program;
  const { asm } = writer;
  const data = writer.slot(35);
  const [limitless, thawed] = [asm.label("no limit"), asm.label("no freeze authority")];
  writer.log("IX: Create Master Edition v3");
  writer.requireAccounts(8);
  writer.requireData(2);
  writer.requireTokenProgram(at.token);
  program.requireMintAuthority(at.mint, at.mintAuthority);
  writer.account("r1", at.mint);
  const single = writer.failure(metadataErrors.editionsMustHaveExactlyOneToken);
  asm.load(8, "r2", "r1", record.data + supply);
  asm.branch("ne", "r2", 1, single);
  asm.load(1, "r2", "r1", record.data + decimals);
  asm.branch("ne", "r2", 0, single);
  program.openMetadata(at.metadata, at.mint);
  program.requireUpdateAuthority(at.updateAuthority);
  const seeds = program.editionSeeds(at.mint);
  maker.requireAddress(at.edition, seeds);
  maker.create({ payer: at.payer, account: at.edition, system: at.system, bytes: masterEditionBytes, seeds });
  writer.account("r1", at.edition);
  asm.store(1, "r1", record.data, masterEditionKey);
  writer.data("r2");
  asm.load(1, "r3", "r2", 1);
  asm.branch("eq", "r3", 0, limitless);
  asm.branch("ne", "r3", 1, writer.failure(runtimeErrors.invalidInstructionData));
  writer.requireData(10);
  writer.account("r1", at.edition);
  asm.store(1, "r1", record.data + 9, 1);
  asm.load(8, "r3", "r2", 2);
  asm.store(8, "r1", record.data + 10, "r3");
  asm.place(limitless);
  writer.account("r1", at.metadata);
  program.toTokenStandard();
  asm.store(1, "r1", 0, 1);
  asm.store(1, "r1", 1, tokenStandard.nonFungible);
  handOver(program, 0, data);
  writer.account("r1", at.mint);
  asm.load(4, "r2", "r1", record.data + freezeAuthority);
  asm.branch("eq", "r2", 0, thawed);
  handOver(program, 1, data);
  asm.place(thawed);
}
