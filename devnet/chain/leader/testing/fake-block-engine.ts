import { randomUUID, verify } from "node:crypto";
import {
  loadPackageDefinition,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import type {
  AuthChallengeRequestMessage,
  AuthTokensRequestMessage,
  BlockBuilderFeeInfoMessage,
  BlockEngineEndpointsMessage,
  TokenMessage,
} from "@sluice/contract/proto";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import { publicKeyOf } from "../../testing/public-key.ts";
import { loadServices } from "../grpc.ts";

type Unary<Request> = (call: ServerUnaryCall<Request, object>, answer: sendUnaryData<object>) => void;
type Stream = ServerWritableStream<object, object>;

interface Packet {
  readonly data: Uint8Array;
  readonly size?: number;
}

/** A sound packet of a transaction. */
export function packetOf({ bytes }: Pick<Transaction, "bytes">): Packet {
  return { data: bytes, size: bytes.length };
}

const refusal = (code: status, details: string) => ({ code, details, metadata: new Metadata() });

/**
 * A block engine as a validator meets it: it signs validators in, hands them bundles and packets when the test says so,
 * and goes wrong in the ways that the test sets. It judges every signature and every token.
 */
export class FakeBlockEngine implements AsyncDisposable {
  url = "";
  /** Its answer about endpoints; null names itself as the global one and no region. */
  endpoints: BlockEngineEndpointsMessage | null = null;
  feeInfo: BlockBuilderFeeInfoMessage = { pubkey: encodeBase58(new Uint8Array(32).fill(7)), commission: "5" };
  accessTokenMs = 1_800_000;
  refreshTokenMs = 180_000_000;
  /** Identities that are not let in. */
  readonly denied = new Set<string>();
  /** Whether its tokens say when they end. */
  datesTokens = true;
  /** How often each call was made. */
  readonly calls = new Map<string, number>();
  #server = new Server();
  #port = 0;
  readonly #challenges = new Map<string, string>();
  /** Identities by the tokens that were given to them. */
  readonly #access = new Map<string, string>();
  readonly #refresh = new Map<string, string>();
  readonly #bundles = new Map<string, Stream>();
  readonly #packets = new Map<string, Stream>();
  #watched: { readonly met: () => boolean; readonly resolve: () => void }[] = [];

  static async start(): Promise<FakeBlockEngine> {
    const engine = new FakeBlockEngine();
    await engine.listen();
    return engine;
  }

  /** Listens, at the same port as before when it did. */
  async listen(): Promise<void> {
    const loaded = loadPackageDefinition(loadServices()) as unknown as {
      readonly auth: { readonly AuthService: ServiceClientConstructor };
      readonly block_engine: { readonly BlockEngineValidator: ServiceClientConstructor };
    };
    this.#server = new Server();
    this.#server.addService(loaded.auth.AuthService.service, {
      GenerateAuthChallenge: this.#challenge,
      GenerateAuthTokens: this.#tokens,
      RefreshAccessToken: this.#renew,
    });
    this.#server.addService(loaded.block_engine.BlockEngineValidator.service, {
      SubscribePackets: (call: Stream) => this.#subscribe("SubscribePackets", call, this.#packets),
      SubscribeBundles: (call: Stream) => this.#subscribe("SubscribeBundles", call, this.#bundles),
      GetBlockBuilderFeeInfo: this.#fees,
      GetBlockEngineEndpoints: this.#endpoints,
    });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#server.bindAsync(`127.0.0.1:${this.#port}`, ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
    this.#port = await promise;
    this.url = `http://127.0.0.1:${this.#port}`;
  }

  /** Resolves when a condition holds that a call of the validators' can make true. */
  until(met: () => boolean): Promise<void> {
    if (met()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watched.push({ met, resolve });
    return promise;
  }

  /** Resolves when an identity reads both streams. */
  subscribed(identity: string): Promise<void> {
    return this.until(() => this.#bundles.has(identity) && this.#packets.has(identity));
  }

  sendBundles(identity: string, bundles: readonly (readonly Packet[] | null)[]): void {
    const messages = bundles.map((packets) => ({
      uuid: randomUUID(),
      bundle: packets === null ? null : { packets: packets.map(this.#packet) },
    }));
    this.#bundles.get(identity)?.write({ bundles: messages });
  }

  sendBundle(identity: string, packets: readonly Packet[]): void {
    this.sendBundles(identity, [packets]);
  }

  sendPackets(identity: string, packets: readonly Packet[] | null): void {
    this.#packets.get(identity)?.write({ batch: packets === null ? null : { packets: packets.map(this.#packet) } });
  }

  /** Ends an identity's streams in order, as an engine that is stopped does. */
  endStreams(identity: string): void {
    this.#bundles.get(identity)?.end();
    this.#packets.get(identity)?.end();
    this.#bundles.delete(identity);
    this.#packets.delete(identity);
  }

  /** Is gone at once, with all connections; `listen` brings it back. */
  kill(): void {
    this.#server.forceShutdown();
    this.#bundles.clear();
    this.#packets.clear();
    this.#access.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
  }

  readonly #packet = ({ data, size }: Packet) => ({
    data,
    ...(size !== undefined && { meta: { size: String(size), addr: "0.0.0.0", port: 0, sender_stake: "0" } }),
  });

  #count(call: string): void {
    this.calls.set(call, (this.calls.get(call) ?? 0) + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    void promise.then(() => this.#notifyWatchers());
    resolve();
  }

  #notifyWatchers(): void {
    this.#watched = this.#watched.filter(({ met, resolve }) => {
      if (!met()) return true;
      resolve();
      return false;
    });
  }

  #token(ms: number): TokenMessage {
    const ends = Date.now() + ms;
    const expires = { seconds: String(Math.floor(ends / 1_000)), nanos: (ends % 1_000) * 1_000_000 };
    return { value: randomUUID(), expires_at_utc: this.datesTokens ? expires : null };
  }

  #identityOf(metadata: Metadata): string | null {
    const [header] = metadata.get("authorization");
    return this.#access.get(String(header).replace(/^Bearer /, "")) ?? null;
  }

  readonly #challenge: Unary<AuthChallengeRequestMessage> = ({ request }, answer) => {
    this.#count("GenerateAuthChallenge");
    const identity = encodeBase58(request.pubkey);
    if (request.role !== "VALIDATOR") return answer(refusal(status.INVALID_ARGUMENT, "Role must be validator."));
    if (this.denied.has(identity)) {
      const said = "The supplied pubkey is not authorized to generate a challenge.";
      return answer(refusal(status.PERMISSION_DENIED, said));
    }
    const challenge = randomUUID().slice(0, 9);
    this.#challenges.set(identity, challenge);
    return answer(null, { challenge });
  };

  readonly #tokens: Unary<AuthTokensRequestMessage> = ({ request }, answer) => {
    this.#count("GenerateAuthTokens");
    const identity = encodeBase58(request.client_pubkey);
    const expected = `${identity}-${this.#challenges.get(identity)}`;
    const key = publicKeyOf(request.client_pubkey);
    const isSigned = verify(null, new TextEncoder().encode(expected), key, request.signed_challenge);
    if (request.challenge !== expected || !isSigned) {
      return answer(refusal(status.INVALID_ARGUMENT, "Failed challenge verification."));
    }
    this.#challenges.delete(identity);
    const [access, refresh] = [this.#token(this.accessTokenMs), this.#token(this.refreshTokenMs)];
    this.#access.set(access.value, identity);
    this.#refresh.set(refresh.value, identity);
    return answer(null, { access_token: access, refresh_token: refresh });
  };

  readonly #renew: Unary<{ readonly refresh_token: string }> = ({ request }, answer) => {
    this.#count("RefreshAccessToken");
    const identity = this.#refresh.get(request.refresh_token);
    if (identity === undefined) return answer(refusal(status.PERMISSION_DENIED, "Invalid refresh_token supplied"));
    const access = this.#token(this.accessTokenMs);
    this.#access.set(access.value, identity);
    return answer(null, { access_token: access });
  };

  readonly #fees: Unary<object> = ({ metadata }, answer) => {
    this.#count("GetBlockBuilderFeeInfo");
    if (this.#identityOf(metadata) === null)
      return answer(refusal(status.PERMISSION_DENIED, "Token failed verification."));
    return answer(null, this.feeInfo);
  };

  readonly #endpoints: Unary<object> = ({ metadata }, answer) => {
    this.#count("GetBlockEngineEndpoints");
    if (metadata.get("authorization").length > 0) return answer(refusal(status.INVALID_ARGUMENT, "no token yet"));
    const global = { block_engine_url: this.url, shredstream_receiver_address: "127.0.0.1:1" };
    return answer(null, this.endpoints ?? { global_endpoint: global, regioned_endpoints: [] });
  };

  #subscribe(name: string, call: Stream, streams: Map<string, Stream>): void {
    const identity = this.#identityOf(call.metadata);
    if (identity === null) {
      call.emit("error", refusal(status.PERMISSION_DENIED, "Token failed verification."));
      return;
    }
    // A stream has begun when its head is sent, which is before there is anything to say.
    call.sendMetadata(new Metadata());
    streams.set(identity, call);
    call.on("cancelled", () => {
      if (streams.get(identity) === call) streams.delete(identity);
      this.#notifyWatchers();
    });
    this.#count(name);
  }
}
