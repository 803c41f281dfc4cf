import { afterAll, beforeAll, expect, test } from "bun:test";
import { Keypair, SystemProgram } from "@solana/web3.js";
import type { ChainNode } from "../node.ts";
import { bootNode, call } from "../testing/boot.ts";
import { signed } from "../testing/chain.ts";

let node: ChainNode;

/** The clock stands still: slots close when a test says so. */
beforeAll(async () => {
  node = await bootNode({ slotMs: 0 });
});

afterAll(() => node[Symbol.asyncDispose]());

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: { readonly subscription: number; readonly result: unknown };
}

/** A client by hand, which keeps every message that it gets. */
class Client {
  readonly messages: Message[] = [];
  readonly #socket: WebSocket;
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.messages.push(JSON.parse(String(data)) as Message));
  }

  static async open(): Promise<Client> {
    const socket = new WebSocket(node.wsUrl);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    return new Client(socket);
  }

  async ask(method: string, params: readonly unknown[] = []): Promise<Message> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const answer = this.messages.find((message) => message.id === id);
      if (answer !== undefined) return answer;
      await new Promise((resolve) => this.#socket.addEventListener("message", resolve, { once: true }));
    }
  }

  /** What a subscription has said so far: a call that is answered proves that everything before it has arrived. */
  async notifications(subscription: unknown): Promise<unknown[]> {
    await this.ask("getVersion");
    const notifications = this.messages
      .map(({ params }) => params)
      .filter((params) => params?.subscription === subscription);
    return notifications.map((params) => params?.result);
  }

  close(): void {
    this.#socket.close();
  }
}

async function closeSlots(count: number): Promise<void> {
  for (let closed = 0; closed < count; closed += 1) {
    await node.chain.settled();
    await node.closeSlot();
  }
}

async function fund(address: string, lamports: number): Promise<string> {
  const { result } = await call(node.rpcUrl, "requestAirdrop", [address, lamports, { commitment: "processed" }]);
  return String(result);
}

test("identical subscriptions share an id, and each client leaves for himself", async () => {
  const [left, right] = [await Client.open(), await Client.open()];
  const address = Keypair.generate().publicKey.toBase58();
  const params = [address, { commitment: "processed", encoding: "base64" }];
  const id = (await left.ask("accountSubscribe", params)).result;
  expect((await right.ask("accountSubscribe", params)).result).toBe(id);
  expect((await right.ask("accountSubscribe", [address, { commitment: "processed" }])).result).not.toBe(id);
  expect((await left.ask("accountUnsubscribe", [id])).result).toBe(true);
  expect((await left.ask("accountUnsubscribe", [id])).error).toEqual({
    code: -32602,
    message: "Invalid subscription id.",
  });
  await fund(address, 5_000_000);
  await closeSlots(1);
  expect(await left.notifications(id)).toEqual([]);
  expect(await right.notifications(id)).toHaveLength(1);
  left.close();
  right.close();
});

test("an account is reported once for each slot that changed it, at the commitment asked for, and as default when it is gone", async () => {
  const client = await Client.open();
  const owner = Keypair.generate();
  const address = owner.publicKey.toBase58();
  const processed = (await client.ask("accountSubscribe", [address, { commitment: "processed", encoding: "base64" }]))
    .result;
  const confirmed = (await client.ask("accountSubscribe", [address, { commitment: "confirmed", encoding: "base64" }]))
    .result;
  const finalized = (await client.ask("accountSubscribe", [address, { encoding: "base64" }])).result;
  await fund(address, 5_000_000);
  await fund(address, 5_000_000);
  await closeSlots(1);
  const slot = Number(node.chain.at("processed").slot);
  const account = {
    lamports: 10_000_000,
    data: ["", "base64"],
    owner: SystemProgram.programId.toBase58(),
    executable: false,
    space: 0,
  };
  const [first, ...others] = await client.notifications(processed);
  expect(first).toMatchObject({ context: { slot }, value: account });
  expect(Object.keys((first as { context: object }).context)).toEqual(["slot"]);
  expect(others).toEqual([]);
  expect(await client.notifications(confirmed)).toEqual([]);
  const blockhash = node.chain.at("processed").blockhash;
  const to = Keypair.generate().publicKey;
  const all = SystemProgram.transfer({ fromPubkey: owner.publicKey, toPubkey: to, lamports: 10_000_000 - 5_000 });
  node.chain.submit(signed(owner, blockhash, all));
  await closeSlots(1);
  expect((await client.notifications(processed))[1]).toMatchObject({ value: { lamports: 0, rentEpoch: 0, space: 0 } });
  expect(await client.notifications(confirmed)).toEqual([first]);
  await closeSlots(31);
  expect(await client.notifications(finalized)).toEqual([first]);
  await closeSlots(1);
  expect(await client.notifications(finalized)).toHaveLength(2);
  client.close();
});

test("a signature is reported as received, then once with its error, and the subscription is over", async () => {
  const client = await Client.open();
  const payer = Keypair.generate();
  await fund(payer.publicKey.toBase58(), 5_000_000);
  await closeSlots(1);
  const tooMuch = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: payer.publicKey,
    lamports: 9_000_000,
  });
  const transaction = signed(payer, node.chain.at("processed").blockhash, tooMuch);
  const config = { commitment: "processed", enableReceivedNotification: true };
  const id = (await client.ask("signatureSubscribe", [transaction.id, config])).result;
  node.chain.submit(transaction);
  await closeSlots(1);
  const [received, done, ...others] = await client.notifications(id);
  expect(received).toMatchObject({ value: "receivedSignature" });
  expect(done).toMatchObject({ value: { err: { InstructionError: [0, { Custom: 1 }] } } });
  expect(others).toEqual([]);
  expect((await client.ask("signatureUnsubscribe", [id])).error?.message).toBe("Invalid subscription id.");
  const late = (await client.ask("signatureSubscribe", [transaction.id, { commitment: "confirmed" }])).result;
  await closeSlots(1);
  expect(await client.notifications(late)).toHaveLength(1);
  client.close();
});

test("programs, logs and blocks are reported as their filters say; slots, updates and roots for every slot", async () => {
  const client = await Client.open();
  const [wanted, other] = [Keypair.generate().publicKey.toBase58(), Keypair.generate().publicKey.toBase58()];
  const at = { commitment: "confirmed" };
  const subscribe = async (method: string, params: readonly unknown[] = []) =>
    (await client.ask(method, params)).result;
  const program = await subscribe("programSubscribe", [
    SystemProgram.programId.toBase58(),
    { ...at, encoding: "base64", filters: [{ dataSize: 0 }] },
  ]);
  const logs = await subscribe("logsSubscribe", [{ mentions: [wanted] }, at]);
  const block = await subscribe("blockSubscribe", [
    { mentionsAccountOrProgram: wanted },
    { ...at, transactionDetails: "signatures", maxSupportedTransactionVersion: 0 },
  ]);
  const slots = await subscribe("slotSubscribe");
  const updates = await subscribe("slotsUpdatesSubscribe");
  const roots = await subscribe("rootSubscribe");
  const signature = await fund(wanted, 5_000_000);
  await fund(other, 6_000_000);
  await closeSlots(2);
  const slot = Number(node.chain.at("confirmed").slot);
  const notifications = (await client.notifications(program)) as { value: { pubkey: string } }[];
  expect(notifications.map(({ value }) => value.pubkey)).toEqual(expect.arrayContaining([wanted, other]));
  expect(await client.notifications(logs)).toMatchObject([{ context: { slot }, value: { signature, err: null } }]);
  expect(await client.notifications(block)).toMatchObject([
    { value: { slot, err: null, block: { signatures: [signature] } } },
  ]);
  expect(await client.notifications(slots)).toHaveLength(2);
  expect(await client.notifications(roots)).toHaveLength(2);
  const types = ((await client.notifications(updates)) as { type: string }[]).map(({ type }) => type);
  const round = ["completed", "frozen", "optimisticConfirmation", "root", "firstShredReceived", "createdBank"];
  expect(types).toEqual([...round, ...round]);
  client.close();
});

test("bad filters, keys and commitments are refused in the node's words", async () => {
  const client = await Client.open();
  const refusal = async (method: string, params: readonly unknown[]) =>
    (await client.ask(method, params)).error?.message;
  expect(await refusal("accountSubscribe", ["x"])).toBe("Invalid Request: Invalid pubkey provided");
  expect(await refusal("signatureSubscribe", ["x"])).toBe("Invalid Request: Invalid signature provided");
  expect(await refusal("logsSubscribe", [{ mentions: ["x"] }])).toBe("Invalid Request: Invalid mentions provided");
  const two = { mentions: [SystemProgram.programId.toBase58(), SystemProgram.programId.toBase58()] };
  expect(await refusal("logsSubscribe", [two])).toBe("Invalid Request: Only 1 address supported");
  expect(await refusal("blockSubscribe", [{ mentionsAccountOrProgram: "x" }])).toBe(
    "Invalid Request: Invalid mentions_account_or_program provided",
  );
  expect(await refusal("blockSubscribe", ["all", { commitment: "processed" }])).toBe(
    "Method does not support commitment below `confirmed`",
  );
  expect((await client.ask("voteSubscribe")).error?.code).toBe(-32601);
  client.close();
});
