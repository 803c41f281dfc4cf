/**
 * frames: what a process of ours and its child tell each other, little-endian behind a head of length and kind. Apart from
 * the rest of wire, since it is for processes of one machine and knows nothing of the chain.
 */
export { type Frame, FrameReader, FrameSplitter } from "./frame-reader.ts";
export { FRAME_HEAD_BYTES, FrameWriter } from "./frame-writer.ts";
