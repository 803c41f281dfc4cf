import { afterAll, beforeAll, expect, test } from "bun:test";
import { Keypair, SystemProgram, Transaction, TransactionInstruction } from "@solana/web3.js";
import fc from "fast-check";
import type { ChainNode } from "./node.ts";
import { bootNode, call, post } from "./testing/boot.ts";

let node: ChainNode;

beforeAll(async () => {
  node = await bootNode();
});

afterAll(() => node[Symbol.asyncDispose]());

/** The node still answers, and its slots still move. */
async function alive(): Promise<void> {
  const before = (await call(node.rpcUrl, "getSlot", [{ commitment: "processed" }])).result as number;
  await node.closeSlot();
  const after = (await call(node.rpcUrl, "getSlot", [{ commitment: "processed" }])).result as number;
  expect(after).toBeGreaterThan(before);
}

async function textOf(response: Promise<Response>): Promise<[number, string]> {
  const answered = await response;
  return [answered.status, await answered.text()];
}

test("bodies that are no call get the transport's own answers", async () => {
  const url = node.rpcUrl;
  const parseError = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}\n';
  const invalid = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":null}';
  expect(await textOf(post(url, "{"))).toEqual([200, parseError]);
  expect(await textOf(post(url, ""))).toEqual([200, parseError]);
  expect(await textOf(post(url, "[".repeat(50_000)))).toEqual([200, parseError]);
  expect(await textOf(post(url, "[]"))).toEqual([200, ""]);
  expect(await textOf(post(url, '[1,"x"]'))).toEqual([200, `[${invalid},${invalid}]\n`]);
  expect(await textOf(post(url, '{"jsonrpc":"2.0","method":"getHealth","id":-1}'))).toEqual([200, `${invalid}\n`]);
  expect(await textOf(post(url, '{"jsonrpc":"2.0","method":"getHealth","id":1.5}'))).toEqual([200, `${invalid}\n`]);
  expect(await textOf(post(url, '{"jsonrpc":"2.0","method":"getHealth"}'))).toEqual([200, ""]);
  expect(await textOf(post(url, `"${"x".repeat(60_000)}"`))).toEqual([
    413,
    "request body size exceeds allowed maximum",
  ]);
  const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22]);
  expect(await textOf(post(url, bytes))).toEqual([400, "utf-8 encoding error at byte 2 in request body"]);
  const [status] = await textOf(post(url, "{}", { "content-type": "text/plain" }));
  expect(status).toBe(415);
  expect((await fetch(url)).status).toBe(405);
  await alive();
});

test("envelopes: version, unknown members, ids of every type, member order, batches in order", async () => {
  const url = node.rpcUrl;
  const send = async (body: string) => (await textOf(post(url, body)))[1];
  expect(await send('{"method":"getHealth","id":1}')).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":1}\n',
  );
  expect(await send('{"jsonrpc":"2.0","method":"getHealth","id":"a","extra":1}')).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":"a"}\n',
  );
  expect(await send('{"jsonrpc":"2.0","method":"getHealth","id":18446744073709551615}')).toBe(
    '{"jsonrpc":"2.0","result":"ok","id":18446744073709551615}\n',
  );
  expect(await send('{"jsonrpc":"2.0","method":"getHealth","id":null}')).toBe(
    '{"jsonrpc":"2.0","result":"ok","id":null}\n',
  );
  expect(await send('{"jsonrpc":"2.0","method":"getRecentBlockhash","id":7}')).toBe(
    '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":7}\n',
  );
  const batch =
    '[{"jsonrpc":"2.0","method":"getHealth","id":1},{"jsonrpc":"2.0","method":"nope","id":2},{"jsonrpc":"2.0","method":"getHealth"}]';
  expect(await send(batch)).toBe(
    '[{"jsonrpc":"2.0","result":"ok","id":1},{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":2}]\n',
  );
  for (const method of ["constructor", "__proto__", "toString"]) {
    expect((await call(url, method)).error?.code).toBe(-32601);
  }
});

test("a wrong number or kind of parameters is refused in the node's words", async () => {
  const refusal = async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = (await (await post(node.rpcUrl, body)).json()) as {
      error?: { code: number; message: string; data?: unknown };
    };
    return answer.error;
  };
  expect(await refusal("getBalance", [])).toEqual({
    code: -32602,
    message: "`params` should have at least 1 argument(s)",
  });
  expect(await refusal("getBalance", {})).toEqual({ code: -32602, message: "`params` should be an array" });
  expect(await refusal("getSlot", [null, 1])).toEqual({
    code: -32602,
    message: "Invalid parameters: Expected from 0 to 1 parameters.",
    data: '"Got: 2"',
  });
  expect((await refusal("getBlockTime", []))?.message).toBe(
    "Invalid params: invalid length 0, expected a tuple of size 1.",
  );
  expect((await refusal("getHealth", [1]))?.message).toBe("Invalid parameters: No parameters were expected");
  expect((await refusal("getBalance", ["0OIl"]))?.message).toBe("Invalid param: Invalid");
  expect((await refusal("getBalance", ["1111"]))?.message).toBe("Invalid param: WrongSize");
  expect((await refusal("getBalance", [5]))?.message).toBe(
    "Invalid params: invalid type: integer `5`, expected a string.",
  );
  expect((await refusal("getBlock", [0, { commitment: "processed" }]))?.message).toBe(
    "Method does not support commitment below `confirmed`",
  );
  expect((await refusal("getSlot", [{ minContextSlot: 4_000_000_000 }]))?.code).toBe(-32016);
  expect((await refusal("getBlock", [4_000_000_000]))?.code).toBe(-32004);
});

test("random JSON as method and parameters never ends the node nor gives an internal error", async () => {
  const { rpcMethods } = await import("./rpc/table.ts");
  const methods = [...rpcMethods().keys()].filter((name) => name !== "requestAirdrop");
  const value = fc.jsonValue({ maxDepth: 2 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...methods), fc.array(value, { maxLength: 3 }), async (method, params) => {
      const { error } = await call(node.rpcUrl, method, params);
      expect(error?.code).not.toBe(-32603);
    }),
    { numRuns: 400, seed: 7 },
  );
  await alive();
});

/** A signed transfer from an account that the faucet filled. */
async function signedTransfer(): Promise<Uint8Array> {
  const payer = Keypair.generate();
  await call(node.rpcUrl, "requestAirdrop", [payer.publicKey.toBase58(), 1_000_000_000, { commitment: "processed" }]);
  await node.closeSlot();
  const latest = await call(node.rpcUrl, "getLatestBlockhash", [{ commitment: "processed" }]);
  const { blockhash } = (latest.result as { value: { blockhash: string } }).value;
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
    SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: 1_000_000,
    }),
  );
  transaction.sign(payer);
  return new Uint8Array(transaction.serialize());
}

function send(bytes: Uint8Array, config: object = {}) {
  const text = Buffer.from(bytes).toString("base64");
  return call(node.rpcUrl, "sendTransaction", [
    text,
    { encoding: "base64", preflightCommitment: "processed", ...config },
  ]);
}

test("truncated, extended and mutated transactions are refused or dropped, and the next good one lands", async () => {
  const bytes = await signedTransfer();
  for (let length = 0; length < bytes.length; length += 7) {
    expect((await send(bytes.subarray(0, length), { skipPreflight: true })).error?.code).toBe(-32602);
  }
  expect((await send(new Uint8Array([...bytes, 0]), { skipPreflight: true })).error?.code).toBe(-32602);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, flip, skip) => {
        const mutated = new Uint8Array(bytes);
        mutated[at] = (mutated[at] ?? 0) ^ flip;
        const answer = await send(mutated, { skipPreflight: skip });
        if (!skip) expect([-32602, -32002]).toContain(answer.error?.code ?? 0);
      },
    ),
    { numRuns: 300, seed: 11 },
  );
  await node.closeSlot();
  const { result } = await send(bytes);
  await node.closeSlot();
  const statuses = await call(node.rpcUrl, "getSignatureStatuses", [[result]]);
  expect((statuses.result as { value: { err: unknown }[] }).value[0]?.err).toBeNull();
  await alive();
});

test("a bad signature is refused by preflight with its simulation, and never lands without preflight", async () => {
  const bytes = await signedTransfer();
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  const refused = await send(bytes);
  expect(refused.error).toMatchObject({ code: -32002, data: { err: "SignatureFailure", logs: [], accounts: null } });
  const { result } = await send(bytes, { skipPreflight: true });
  await node.closeSlot();
  const statuses = await call(node.rpcUrl, "getSignatureStatuses", [[result]]);
  expect((statuses.result as { value: unknown[] }).value).toEqual([null]);
});

test("instructions with hostile data, accounts and programs run or fail without ending the machine", async () => {
  const payer = Keypair.generate();
  await call(node.rpcUrl, "requestAirdrop", [payer.publicKey.toBase58(), 10_000_000_000, { commitment: "processed" }]);
  await node.closeSlot();
  const programs = [
    "11111111111111111111111111111111",
    "Vote111111111111111111111111111111111111111",
    "Stake11111111111111111111111111111111111111",
    "AddressLookupTab1e1111111111111111111111111",
    "BPFLoaderUpgradeab1e11111111111111111111111",
    "BPFLoader2111111111111111111111111111111111",
    "BPFLoader1111111111111111111111111111111111",
    "NativeLoader1111111111111111111111111111111",
    "ComputeBudget111111111111111111111111111111",
    "Ed25519SigVerify111111111111111111111111111",
    "KeccakSecp256k11111111111111111111111111111",
    "Secp256r1SigVerify1111111111111111111111111",
    "ZkE1Gama1Proof11111111111111111111111111111",
    "Config1111111111111111111111111111111111111",
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
    "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
    "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
    "SysvarC1ock11111111111111111111111111111111",
    node.chain.genesis.validators[0].vote,
    node.chain.genesis.validators[0].stake,
  ];
  const { PublicKey } = await import("@solana/web3.js");
  const account = fc.record({
    key: fc.constantFrom(...programs, payer.publicKey.toBase58(), Keypair.generate().publicKey.toBase58()),
    isWritable: fc.boolean(),
  });
  const instruction = fc.record({
    program: fc.constantFrom(...programs),
    accounts: fc.array(account, { maxLength: 6 }),
    tag: fc.nat(30),
    data: fc.uint8Array({ maxLength: 80 }),
  });
  const { blockhash } = node.chain.at("processed");
  await fc.assert(
    fc.asyncProperty(fc.array(instruction, { minLength: 1, maxLength: 3 }), async (instructions) => {
      const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
      for (const { program, accounts, tag, data } of instructions) {
        transaction.add(
          new TransactionInstruction({
            programId: new PublicKey(program),
            keys: accounts.map(({ key, isWritable }) => ({
              pubkey: new PublicKey(key),
              isSigner: key === payer.publicKey.toBase58(),
              isWritable,
            })),
            data: Buffer.from([tag, 0, 0, 0, ...data]),
          }),
        );
      }
      transaction.sign(payer);
      const bytes = new Uint8Array(transaction.serialize());
      await send(bytes, { skipPreflight: true });
      const text = Buffer.from(bytes).toString("base64");
      const simulated = await call(node.rpcUrl, "simulateTransaction", [
        text,
        { encoding: "base64", commitment: "processed" },
      ]);
      expect(simulated.error?.code).not.toBe(-32603);
    }),
    { numRuns: 250, seed: 3 },
  );
  await alive();
  let lamports = 0n;
  const bank = node.chain.at("processed");
  for (const [, account] of node.chain.accounts.all(bank.slot)) lamports += account.lamports;
  expect(lamports).toBe(bank.capitalization);
  let landed = 0;
  for (const slot of node.chain.history.slots(0n, bank.slot, 10_000)) {
    for (const { preBalances, postBalances, fee } of node.chain.history.block(slot)?.transactions ?? []) {
      const sum = (balances: readonly bigint[]) => balances.reduce((total, balance) => total + balance, 0n);
      expect(sum(preBalances) - sum(postBalances)).toBe(fee);
      landed += 1;
    }
  }
  expect(landed).toBeGreaterThan(100);
});

test("socket messages that are no call, too long, or unknown leave the others' subscriptions alone", async () => {
  const open = async () => {
    const socket = new WebSocket(node.wsUrl);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    return socket;
  };
  const next = (socket: WebSocket) =>
    new Promise<string>((resolve) =>
      socket.addEventListener("message", ({ data }) => resolve(String(data)), { once: true }),
    );
  const ask = (socket: WebSocket, text: string) => {
    const answer = next(socket);
    socket.send(text);
    return answer;
  };
  const [good, bad] = [await open(), await open()];
  expect(await ask(good, '{"jsonrpc":"2.0","id":1,"method":"rootSubscribe"}')).toContain('"result":');
  expect(await ask(bad, "{")).toContain("-32700");
  expect(await ask(bad, '{"jsonrpc":"2.0","id":2,"method":"voteSubscribe"}')).toContain("-32601");
  expect(await ask(bad, '{"jsonrpc":"2.0","id":3,"method":"rootUnsubscribe","params":[99]}')).toContain(
    "Invalid subscription id.",
  );
  expect(await ask(bad, '{"jsonrpc":"2.0","id":4,"method":"accountSubscribe","params":["x"]}')).toContain(
    "Invalid Request: Invalid pubkey provided",
  );
  bad.send('{"jsonrpc":"2.0","method":"ping"}');
  const closed = new Promise((resolve) => bad.addEventListener("close", resolve, { once: true }));
  bad.send(`"${"x".repeat(5_000)}"`);
  await closed;
  expect(await next(good)).toContain("rootNotification");
  good.close();
});
