/** First bytes of the instructions that the stand-in understands; all others fail as invalid data. */
export const metadataTags = {
  createMasterEdition: 17,
  verifyCollection: 18,
  burnNft: 29,
  createMetadata: 33,
} as const;
