import type { ProgramParser } from "../program.ts";
import { accountCompression } from "./account-compression.ts";
import { addressLookupTable } from "./address-lookup-table.ts";
import { aldrinV1 } from "./aldrin-v1.ts";
import { aldrinV2 } from "./aldrin-v2.ts";
import { alphaArt } from "./alpha-art.ts";
import { associatedToken } from "./associated-token.ts";
import { auctionHouse } from "./auction-house.ts";
import { bananaGun } from "./banana-gun.ts";
import { bloom } from "./bloom.ts";
import { bonkSwap } from "./bonk-swap.ts";
import { boopFun } from "./boop-fun.ts";
import { bubblegum } from "./bubblegum.ts";
import { candyGuard } from "./candy-guard.ts";
import { candyMachineV2 } from "./candy-machine-v2.ts";
import { candyMachineV3 } from "./candy-machine-v3.ts";
import { computeBudget } from "./compute-budget.ts";
import { coreCandyGuard } from "./core-candy-guard.ts";
import { coreCandyMachine } from "./core-candy-machine.ts";
import { crema } from "./crema.ts";
import { dflow } from "./dflow.ts";
import { digitalEyes, monkeBusinessMarket } from "./digital-eyes.ts";
import { digitalEyesDirect } from "./digital-eyes-direct.ts";
import { ed25519 } from "./ed25519.ts";
import { exchangeArt } from "./exchange-art.ts";
import { exchangeArtBuyNow } from "./exchange-art-buy-now.ts";
import { fluxbeam } from "./fluxbeam.ts";
import { formfunction } from "./formfunction.ts";
import { goosefxGamma } from "./goosefx-gamma.ts";
import { heaven } from "./heaven.ts";
import { invariant } from "./invariant.ts";
import { jupiterDca } from "./jupiter-dca.ts";
import { jupiterLimit } from "./jupiter-limit.ts";
import { jupiterLimitV2 } from "./jupiter-limit-v2.ts";
import { jupiterV2 } from "./jupiter-v2.ts";
import { jupiterV3 } from "./jupiter-v3.ts";
import { jupiterV4 } from "./jupiter-v4.ts";
import { jupiterV6 } from "./jupiter-v6.ts";
import { jupiterValueAverage } from "./jupiter-value-average.ts";
import { lifinityV1 } from "./lifinity-v1.ts";
import { lifinityV2 } from "./lifinity-v2.ts";
import { lighthouse } from "./lighthouse.ts";
import { maestro } from "./maestro.ts";
import { magicEdenLaunchpad } from "./magic-eden-launchpad.ts";
import { magicEdenMmm } from "./magic-eden-mmm.ts";
import { magicEdenV1 } from "./magic-eden-v1.ts";
import { magicEdenV2 } from "./magic-eden-v2.ts";
import { marinade } from "./marinade.ts";
import { memo } from "./memo.ts";
import { memoV1 } from "./memo-v1.ts";
import { mercurial } from "./mercurial.ts";
import { metaplexAuction } from "./metaplex-auction.ts";
import { meteoraDammV1 } from "./meteora-damm-v1.ts";
import { meteoraDammV2 } from "./meteora-damm-v2.ts";
import { meteoraDbc } from "./meteora-dbc.ts";
import { meteoraDlmm } from "./meteora-dlmm.ts";
import { moonshot } from "./moonshot.ts";
import { mplAccountCompression } from "./mpl-account-compression.ts";
import { mplCore } from "./mpl-core.ts";
import { mplNoop } from "./mpl-noop.ts";
import { noop } from "./noop.ts";
import { nova } from "./nova.ts";
import { obric } from "./obric.ts";
import { okxDex } from "./okx-dex.ts";
import { okxRouter } from "./okx-router.ts";
import { oneDex } from "./one-dex.ts";
import { openbookV1 } from "./openbook-v1.ts";
import { openbookV2 } from "./openbook-v2.ts";
import { orcaSwapV1 } from "./orca-swap-v1.ts";
import { orcaSwapV2 } from "./orca-swap-v2.ts";
import { orcaWhirlpool } from "./orca-whirlpool.ts";
import { pancakeSwap } from "./pancake-swap.ts";
import { phoenix } from "./phoenix.ts";
import { photon } from "./photon.ts";
import { pumpFun } from "./pump-fun.ts";
import { pumpSwap } from "./pump-swap.ts";
import { pyth } from "./pyth.ts";
import { raydiumAmm } from "./raydium-amm.ts";
import { raydiumClmm } from "./raydium-clmm.ts";
import { raydiumCpmm } from "./raydium-cpmm.ts";
import { raydiumLaunchlab } from "./raydium-launchlab.ts";
import { raydiumRouter } from "./raydium-router.ts";
import { raydiumStable } from "./raydium-stable.ts";
import { saber } from "./saber.ts";
import { sanctumRouter } from "./sanctum-router.ts";
import { saros } from "./saros.ts";
import { secp256k1 } from "./secp256k1.ts";
import { secp256r1 } from "./secp256r1.ts";
import { serumV3 } from "./serum-v3.ts";
import { solFi } from "./sol-fi.ts";
import { solanart } from "./solanart.ts";
import { solsea } from "./solsea.ts";
import { stabbleStable } from "./stabble-stable.ts";
import { stabbleWeighted } from "./stabble-weighted.ts";
import { stake } from "./stake.ts";
import { sanctumMultiPool, sanctumStakePool, stakePool, stakePoolDevnet } from "./stake-pool.ts";
import { system } from "./system.ts";
import { tensorAmm } from "./tensor-amm.ts";
import { tensorBid } from "./tensor-bid.ts";
import { tensorMarketplace } from "./tensor-marketplace.ts";
import { tensorSwap } from "./tensor-swap.ts";
import { token, token2022 } from "./token.ts";
import { tokenMetadata } from "./token-metadata.ts";
import { vertigo } from "./vertigo.ts";
import { virtuals } from "./virtuals.ts";
import { vote } from "./vote.ts";
import { xdex } from "./xdex.ts";
import { xdexTestnet } from "./xdex-testnet.ts";
import { zeroFi } from "./zero-fi.ts";
import { zeta } from "./zeta.ts";

/** Every program that is known, once. */
export const programParsers: readonly ProgramParser[] = [
  accountCompression,
  addressLookupTable,
  aldrinV1,
  aldrinV2,
  alphaArt,
  associatedToken,
  auctionHouse,
  bananaGun,
  bloom,
  bonkSwap,
  boopFun,
  bubblegum,
  candyGuard,
  candyMachineV2,
  candyMachineV3,
  computeBudget,
  coreCandyGuard,
  coreCandyMachine,
  crema,
  dflow,
  digitalEyesDirect,
  digitalEyes,
  monkeBusinessMarket,
  ed25519,
  exchangeArtBuyNow,
  exchangeArt,
  fluxbeam,
  formfunction,
  goosefxGamma,
  heaven,
  invariant,
  jupiterDca,
  jupiterLimitV2,
  jupiterLimit,
  jupiterV2,
  jupiterV3,
  jupiterV4,
  jupiterV6,
  jupiterValueAverage,
  lifinityV1,
  lifinityV2,
  lighthouse,
  maestro,
  magicEdenLaunchpad,
  magicEdenMmm,
  magicEdenV1,
  magicEdenV2,
  marinade,
  memoV1,
  memo,
  mercurial,
  metaplexAuction,
  meteoraDammV1,
  meteoraDammV2,
  meteoraDbc,
  meteoraDlmm,
  moonshot,
  mplAccountCompression,
  mplCore,
  mplNoop,
  noop,
  nova,
  obric,
  okxDex,
  okxRouter,
  oneDex,
  openbookV1,
  openbookV2,
  orcaSwapV1,
  orcaSwapV2,
  orcaWhirlpool,
  pancakeSwap,
  phoenix,
  photon,
  pumpFun,
  pumpSwap,
  pyth,
  raydiumAmm,
  raydiumClmm,
  raydiumCpmm,
  raydiumLaunchlab,
  raydiumRouter,
  raydiumStable,
  saber,
  sanctumRouter,
  saros,
  secp256k1,
  secp256r1,
  serumV3,
  solFi,
  solanart,
  solsea,
  stabbleStable,
  stabbleWeighted,
  stakePool,
  stakePoolDevnet,
  sanctumMultiPool,
  sanctumStakePool,
  stake,
  system,
  tensorAmm,
  tensorBid,
  tensorMarketplace,
  tensorSwap,
  tokenMetadata,
  token,
  token2022,
  vertigo,
  virtuals,
  vote,
  xdexTestnet,
  xdex,
  zeroFi,
  zeta,
];

const byId: ReadonlyMap<string, ProgramParser> = new Map(programParsers.map((parser) => [parser.id, parser]));

/** The parser of a program; undefined for one that is not known. */
export function parserFor(programId: string): ProgramParser | undefined {
  return byId.get(programId);
}

const bySource: ReadonlyMap<string, ProgramParser> = new Map(
  [...programParsers].reverse().map((parser) => [parser.source, parser]),
);

/** A program by the short name that records have. */
export function parserNamed(source: string): ProgramParser | undefined {
  return bySource.get(source);
}
