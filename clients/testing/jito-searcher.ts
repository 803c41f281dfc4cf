/**
 * An unmodified jito-ts in a separate process, since it reads its roots of trust from the environment as it is
 * loaded. Takes the engine's `host:port`; then a line on standard input is a call, and a line on standard output its
 * JSON answer or a bundle's result. Ends with its input.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";

interface Bundle {
  addTipTx(keypair: Keypair, lamports: number, tipAccount: PublicKey, blockhash: string): Bundle | Error;
}

interface SearcherClient {
  getTipAccounts(): Promise<unknown>;
  getConnectedLeaders(): Promise<unknown>;
  getNextScheduledLeader(): Promise<unknown>;
  sendBundle(bundle: Bundle): Promise<unknown>;
  onBundleResult(received: (result: unknown) => void, failed: (error: Error) => void): () => void;
}

// Its types bring those of an older web3.js, which are declared for the whole program and would replace those of the
// tests.
const load = createRequire(import.meta.url);
const { searcherClient }: { searcherClient(url: string, keypair?: Keypair): SearcherClient } = load(
  "jito-ts/dist/sdk/block-engine/searcher",
);
const { Bundle }: { Bundle: new (transactions: readonly VersionedTransaction[], transactionsMax: number) => Bundle } =
  load("jito-ts/dist/sdk/block-engine/types");

const [address = ""] = process.argv.slice(2);
const keypair = Keypair.generate();
const signed = searcherClient(address, keypair);
const unsigned = searcherClient(address);
/** For calls whose blockhash does not matter. */
const anyBlockhash = PublicKey.default.toBase58();

const print = (line: unknown): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

/** A bundle of one transfer and a tip. */
function bundle(tipAccount: string, blockhash: string, lamports: number): Bundle {
  const payerKey = keypair.publicKey;
  const instructions = [SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: payerKey, lamports: 1 })];
  const message = new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([keypair]);
  const made = new Bundle([transaction], 5).addTipTx(keypair, lamports, new PublicKey(tipAccount), blockhash);
  if (made instanceof Error) throw made;
  return made;
}

const calls: Readonly<Record<string, (client: SearcherClient, ...given: readonly string[]) => Promise<unknown>>> = {
  pubkey: async () => keypair.publicKey.toBase58(),
  tipAccounts: (client) => client.getTipAccounts(),
  leaders: (client) => client.getConnectedLeaders(),
  nextLeader: (client) => client.getNextScheduledLeader(),
  send: (client, tipAccount = "", blockhash = anyBlockhash, lamports = "1000") =>
    client.sendBundle(bundle(tipAccount, blockhash, Number(lamports))),
  listen: async (client) => {
    client.onBundleResult(
      (result) => print({ result }),
      (error) => print({ fault: error.message }),
    );
    return "listening";
  },
};

print({ answer: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
  const [who, call = "", ...given] = line.split(" ");
  const answer = await calls[call]?.(who === "signed" ? signed : unsigned, ...given);
  print({ answer });
}
process.exit(0);
