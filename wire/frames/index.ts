/**
 * frames: messages between a process and its child: a head of length and kind, then little-endian fields. Fed by svm and the
 * engine's simulation, and feeds them; both ends run on one machine, and nothing here knows the chain.
 */
export { type Frame, FrameSplitter } from "./frame-reader.ts";
export { FrameWriter } from "./frame-writer.ts";
