import type {
  BlockBuilderFeeInfoMessage,
  PacketMessage,
  SubscribeBundlesMessage,
  SubscribePacketsMessage,
} from "@sluice/contract/proto";
import type { Clock, Timer } from "@sluice/lib";
import { type Address, isAddress } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { BundlePacket } from "../bank/index.ts";
import type { BlockBuilder } from "../consensus/index.ts";
import type { GenesisKeypair } from "../model/index.ts";
import type { EngineChannel } from "./grpc.ts";
import { Session } from "./tokens.ts";

/** A packet's buffer. Source: jito-solana, PACKET_DATA_SIZE with v1 transactions. */
const packetBytesMax = 4_096;

/**
 * A packet as a validator takes it from a block engine: `meta.size` is how much of the data counts. One that is longer
 * than a buffer, or says more than it brings, is discarded; the discard flag of the wire is ignored. Without a
 * meta its size is 0, as it is for a validator.
 */
export function readPacket({ data, meta }: PacketMessage): BundlePacket {
  const size = BigInt(meta?.size ?? 0);
  if (data.length > packetBytesMax || size > BigInt(data.length)) return { data, isDiscarded: true };
  return { data: data.subarray(0, Number(size)), isDiscarded: false };
}

/** Source: jito-solana, the block engine stage's maintenance. */
const feeInfoEveryMs = 600_000;
const commissionMax = 100n;
/** 32 zeros, which no builder has. */
const defaultKey = programs.system;

interface ConnectionOptions {
  /** Between looks at what is due. */
  readonly tickMs: number;
}

interface ConnectionDependencies {
  readonly channel: EngineChannel;
  readonly keypair: GenesisKeypair;
  readonly clock: Clock;
  readonly bundle: (packets: readonly BundlePacket[]) => void;
  readonly packet: (packet: BundlePacket) => void;
  readonly builder: (builder: BlockBuilder) => void;
  /** Both streams are open and the builder is known. */
  readonly connected: () => void;
}

/** Reads who builds blocks. Throws when a validator must not work with that. */
function readFeeInfo({ pubkey, commission }: BlockBuilderFeeInfoMessage): BlockBuilder {
  const commissionPercent = BigInt(commission);
  if (commissionPercent > commissionMax) throw new Error("block builder commission must be <= 100");
  if (!isAddress(pubkey) || pubkey === defaultKey) throw new Error("invalid block builder pubkey");
  return { address: pubkey as Address, commissionPercent };
}

/**
 * One connection of a validator with a block engine: signs in, reads packets and bundles, asks who builds blocks, and
 * renews what runs out. It lasts until something fails, a stream ends or `signal` aborts, and rejects with the reason.
 */
export async function holdConnection(
  options: ConnectionOptions,
  dependencies: ConnectionDependencies,
  signal: AbortSignal,
): Promise<never> {
  const { channel, keypair, clock } = dependencies;
  const now = () => clock.now();
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  // It is awaited below; until then its rejection must not count as unhandled.
  lost.catch(() => undefined);
  const abort = () => lose(new Error("no longer wanted"));
  signal.addEventListener("abort", abort, { once: true });
  const over = (fault: Error | null) => lose(fault ?? new Error("stream disconnected"));
  const due: { timer: Timer | null } = { timer: null };
  try {
    signal.throwIfAborted();
    const session = await Session.signIn({ channel, keypair, now });
    const packets = (answer: SubscribePacketsMessage) => {
      for (const packet of answer.batch?.packets ?? []) dependencies.packet(readPacket(packet));
    };
    const bundles = (answer: SubscribeBundlesMessage) => {
      for (const { bundle } of answer.bundles) if (bundle !== null) dependencies.bundle(bundle.packets.map(readPacket));
    };
    await channel.subscribe<SubscribePacketsMessage>("packets", session.token, { message: packets, over });
    await channel.subscribe<SubscribeBundlesMessage>("bundles", session.token, { message: bundles, over });
    let feeInfoDue: number = now();
    const tick = async () => {
      await session.renewIfDue();
      if (now() < feeInfoDue) return;
      dependencies.builder(readFeeInfo(await channel.ask<BlockBuilderFeeInfoMessage>("feeInfo", {}, session.token)));
      feeInfoDue = now() + feeInfoEveryMs;
    };
    await tick();
    dependencies.connected();
    const again = () => {
      due.timer = clock.after(options.tickMs, () => void tick().then(again, lose));
    };
    again();
    return await lost;
  } finally {
    due.timer?.cancel();
    signal.removeEventListener("abort", abort);
  }
}
