import { join } from "node:path";
import { credentials, Client as GrpcClient, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { eventually } from "@sluice/lib/testing";
import { encodeBase58 } from "@sluice/wire/base58";
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { type ProcessKind, WalkedServer } from "./walked-server.ts";

const runs = 5;
/** Within this time of a block the engine has read it. */
const trackedMs = 1_000;

interface Walk {
  readonly server: WalkedServer;
  readonly kinds: readonly ProcessKind[];
  /** Makes what one run needs; the run itself is what it gives. */
  readonly prepare: (run: number) => Promise<() => Promise<void>>;
  /** Functions that run while nothing is asked for. */
  readonly background?: ReadonlySet<string>;
}

/**
 * Runs a walk several times after one that is not counted, and gives the files of which a function ran in every run, in
 * the order of the first. Functions of the background do not count.
 */
async function repeated({ server, kinds, prepare, background = new Set() }: Walk): Promise<string[]> {
  await (await prepare(0))();
  const all: string[][] = [];
  for (let run = 1; run <= runs; run += 1) all.push(await server.record(kinds, await prepare(run)));
  const [first = [], ...others] = all.map((functions) => functions.filter((each) => !background.has(each)));
  const constant = first.filter((each) => others.every((functions) => functions.includes(each)));
  return [...new Set(constant.map((each) => each.slice(0, each.indexOf("#"))))];
}

/** The files that an idle server executes, in several stretches of `idleMs`. */
async function backgroundOf(server: WalkedServer, kinds: readonly ProcessKind[], idleMs: number): Promise<Set<string>> {
  const background = new Set<string>();
  for (let run = 0; run < runs; run += 1) {
    for (const each of await server.record(kinds, () => Bun.sleep(idleMs))) background.add(each);
  }
  return background;
}

/** A call whose answer no cache holds, from the gateway's socket to the node and back. */
export async function missWalk(root: string): Promise<string[]> {
  await using server = await WalkedServer.start(root, "gateway");
  const prepare = async () => {
    const address = Keypair.generate().publicKey.toBase58();
    return async () => void (await rpc(server, "getBalance", [address]));
  };
  await (await prepare())();
  const background = await backgroundOf(server, ["server"], 1_000);
  return await repeated({ server, kinds: ["server"], prepare, background });
}

/** A bundle over gRPC until it is in a block. */
export async function bundleWalk(root: string): Promise<string[]> {
  await using server = await WalkedServer.start(root, "gateway,engine");
  const wallet = await fundedWallet(server);
  const definition = loadSync(join(root, "contract/proto/blockengine.proto"), { keepCase: true, longs: String })[
    "blockengine.v1.BlockEngine"
  ];
  if (definition === undefined || "format" in definition) throw new Error("the service is not found");
  const client = new GrpcClient(endpoint(server, "engineGrpc").replace(/^\w+:\/\//, ""), credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = definition["SubmitBundle"] ?? {};
  if (path === undefined || requestSerialize === undefined || responseDeserialize === undefined) {
    throw new Error("the method is not found");
  }
  const headers = { "x-api-key": key(server), "content-type": "application/json" };
  const rest = endpoint(server, "engineRest");
  const tipAccounts = (await (
    await fetch(`${rest}/api/v1/getTipAccounts`, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getTipAccounts", params: [] }),
    })
  ).json()) as { result: string[] };
  const tipAccount = new PublicKey(tipAccounts.result[0] ?? "");
  const metadata = new Metadata();
  metadata.set("x-api-key", key(server));
  const submit = (transaction: Uint8Array): Promise<{ bundle_id: string; status: string; reason?: string }> =>
    new Promise((settle, reject) => {
      const request = { transactions: [transaction], tip: "10000" };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, answer) =>
        error === null ? settle(answer as { bundle_id: string; status: string }) : reject(error),
      );
    });
  // The searcher's requests before and after go to the chain, so that only the bundle goes through the server.
  const chain = new Connection(server.chainUrl(), "processed");
  const prepare = async (run: number) => {
    const pay = SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: tipAccount, lamports: 10_000 + run });
    const transaction = await signed(chain, wallet, pay);
    return async () => {
      const { status, reason } = await submit(transaction.serialize());
      if (status !== "accepted") throw new Error(`the bundle is ${status}: ${reason}`);
      await confirmed(chain, signatureOf(transaction));
      await Bun.sleep(trackedMs);
    };
  };
  const kinds = ["server", "machine"] as const;
  await (await prepare(0))();
  const background = await backgroundOf(server, kinds, 5_000);
  const files = await repeated({ server, kinds, prepare, background });
  client.close();
  return files;
}

/** Prices of the development market until a subscriber of the stream has one. */
export async function priceWalk(root: string): Promise<string[]> {
  let background: ReadonlySet<string>;
  {
    await using gateway = await WalkedServer.start(root, "gateway");
    background = await backgroundOf(gateway, ["server"], 2_000);
  }
  await using server = await WalkedServer.start(root, "gateway,oracle");
  const url = `${endpoint(server, "oracle").replace(/^http/, "ws")}/api/v1/ws`;
  const socket = new WebSocket(url);
  socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", api_key: key(server) })));
  const waiting: (() => void)[] = [];
  const types: string[] = [];
  socket.addEventListener("message", ({ data }) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    types.push(type);
    if (type === "auth_success")
      socket.send(JSON.stringify({ type: "subscribe", channel: "prices", symbols: ["SOL"] }));
    if (type === "price_update") for (const wake of waiting.splice(0)) wake();
  });
  const update = (): Promise<void> => new Promise((wake) => void waiting.push(wake));
  await eventually("a price is streamed", () => types.includes("price_update"), 60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${types.join(", ")}`);
  });
  const prepare = async () => async () => {
    for (let updates = 0; updates < 3; updates += 1) await update();
  };
  const files = await repeated({ server, kinds: ["server"], prepare, background });
  socket.close();
  return files;
}

/** A transfer that is sent to the development chain until its block is confirmed. */
export async function transactionWalk(root: string): Promise<string[]> {
  await using server = await WalkedServer.start(root, "gateway");
  const wallet = await fundedWallet(server);
  const chain = new Connection(server.chainUrl(), "confirmed");
  using subscriber = new SignatureSubscriber(server.chainSocketUrl());
  const prepare = async (run: number) => {
    const to = Keypair.generate().publicKey;
    const pay = SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: to, lamports: 1_000_000 + run });
    const transaction = await signed(chain, wallet, pay);
    const landed = await subscriber.subscribe(signatureOf(transaction));
    return async () => {
      await chain.sendRawTransaction(transaction.serialize(), { preflightCommitment: "confirmed" });
      await landed.promise;
    };
  };
  return await repeated({ server, kinds: ["chain", "chain machine"], prepare });
}

/** One signature after the other, over one socket of the chain. */
class SignatureSubscriber implements Disposable {
  readonly #socket: WebSocket;
  readonly #opened = Promise.withResolvers<void>();
  #subscribed = Promise.withResolvers<void>();
  #landed = Promise.withResolvers<void>();

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.addEventListener("open", () => this.#opened.resolve());
    this.#socket.addEventListener("message", ({ data }) => {
      const isNotice = (JSON.parse(String(data)) as { method?: string }).method === "signatureNotification";
      (isNotice ? this.#landed : this.#subscribed).resolve();
    });
  }

  /** Resolves once the subscription stands; `promise` of what it gives resolves when the transaction is confirmed. */
  async subscribe(signature: string): Promise<{ readonly promise: Promise<void> }> {
    await this.#opened.promise;
    this.#subscribed = Promise.withResolvers<void>();
    this.#landed = Promise.withResolvers<void>();
    const params = [signature, { commitment: "confirmed" }];
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "signatureSubscribe", params }));
    await this.#subscribed.promise;
    return { promise: this.#landed.promise };
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

async function signed(
  chain: Connection,
  wallet: Keypair,
  ...instructions: readonly TransactionInstruction[]
): Promise<VersionedTransaction> {
  const { blockhash } = await chain.getLatestBlockhash();
  const message = new TransactionMessage({
    payerKey: wallet.publicKey,
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([wallet]);
  return transaction;
}

async function fundedWallet(server: WalkedServer): Promise<Keypair> {
  const wallet = Keypair.generate();
  const signature = await rpc(server, "requestAirdrop", [wallet.publicKey.toBase58(), 5_000_000_000]);
  await confirmed(connection(server), String(signature));
  return wallet;
}

const signatureOf = (transaction: VersionedTransaction): string =>
  encodeBase58(transaction.signatures[0] ?? new Uint8Array());

async function confirmed(chain: Connection, signature: string): Promise<void> {
  await eventually("the transaction is confirmed", async () => {
    const { value } = await chain.getSignatureStatus(signature);
    return value?.confirmationStatus === "confirmed" || value?.confirmationStatus === "finalized";
  });
}

const key = (server: WalkedServer): string => server.dev.keys["enterprise"] ?? "";

function endpoint(server: WalkedServer, name: string): string {
  const url = server.dev.doors[name];
  if (url == null) throw new Error(`there is no endpoint ${name} among ${Object.keys(server.dev.doors).join(", ")}`);
  return url;
}

function connection(server: WalkedServer): Connection {
  return new Connection(`${endpoint(server, "rpc")}?api-key=${key(server)}`, "confirmed");
}

async function rpc(server: WalkedServer, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await fetch(endpoint(server, "rpc"), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key(server) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
