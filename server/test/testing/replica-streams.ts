/** Streams that clients keep open to three processes: PubSub, and bundles over gRPC. */
import { protoFiles } from "@sluice/contract/proto";
import { PlainClient } from "../../src/net/grpc/testing/grpc-client.ts";
import type { StreamRecord } from "./replica-record.ts";
import { type Customer, type ReplicaStage, replicaIndexes } from "./replica-stage.ts";

const grpcPort = 7440;

/** One of each to each process that is there when it is made. They are opened once. */
export class ReplicaStreams implements Disposable {
  /** Those that ended. */
  readonly ended: StreamRecord[] = [];
  readonly #resources = new DisposableStack();
  #isOver = false;

  /** Resolves when all of them are open. */
  static async open(stage: ReplicaStage, { key }: Pick<Customer, "key">): Promise<ReplicaStreams> {
    const streams = new ReplicaStreams();
    await Promise.all(
      replicaIndexes.map(async (replica) => {
        const gateway = stage.gateway(replica);
        if (gateway === null) return;
        await streams.#pubSub(replica, `${gateway.pubsubUrl}/?api-key=${key}`);
        streams.#grpc(replica, grpcPort + gateway.offset, key);
      }),
    );
    return streams;
  }

  async #pubSub(replica: number, url: string): Promise<void> {
    const socket = new WebSocket(url);
    this.#resources.defer(() => socket.close());
    socket.onclose = ({ code }) => this.#note(replica, "pubsub", String(code));
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`process ${replica} takes no PubSub client`));
    });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "slotSubscribe" }));
  }

  /** Where the engine stands by the stream ends at once. */
  #grpc(replica: number, port: number, key: string): void {
    const service = { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" };
    const client = this.#resources.use(new PlainClient(port, service));
    const stream = client.duplex("SubmitBundleStream", { "x-api-key": key });
    void stream.ended.then(({ status }) => this.#note(replica, "grpc", status));
  }

  #note(replica: number, kind: StreamRecord["kind"], end: string): void {
    if (!this.#isOver) this.ended.push({ replica, kind, end, atMs: performance.now() });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#resources.dispose();
  }
}
