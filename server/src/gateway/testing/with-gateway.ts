import { expect } from "bun:test";
import { StubNode } from "../../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway } from "./booted-gateway.ts";

/** A valid address of the chain. */
export const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
export const slotCall = '{"jsonrpc":"2.0","id":"x","method":"getSlot"}';
/** What a node answers to any call. */
export const answerFive = (call: { id: string }): string => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;

/** The body of a refused call. */
export interface FailureBody {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly data: Record<string, unknown> };
}

/** Runs over a gateway with one node, and expects that the gateway logs no fault. */
export async function withGateway(use: (booted: BootedGateway, node: StubNode) => Promise<void>): Promise<void> {
  using node = new StubNode(answerFive);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await use(booted, node);
  expect(booted.faults).toEqual([]);
}
