import { type ProgramParser, parserOf } from "../program.ts";

/** Jupiter DCA. */
export const jupiterDca: ProgramParser = parserOf({
  id: "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M",
  source: "jupiter_dca",
  name: "Jupiter DCA",
  kind: "orders",
  instructions: [
    { tag: "2441b93601d264a3", name: "openDca", does: "order" },
    { tag: "8e772b6da2340bb1", name: "openDcaV2", does: "order" },
    { tag: "16072162a8b722f3", name: "closeDca", does: "order" },
    { tag: "b712469c946da122", name: "withdraw", does: "order" },
    { tag: "c6d4ab6d90d7ae59", name: "withdrawFees", does: "order" },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "order" },
    { tag: "a334c8e78c0345ba", name: "transfer", does: "order" },
    { tag: "537da645f7fc6785", name: "endAndClose", does: "order" },
    { tag: "8fcd03bfa2d7f531", name: "initiateFlashFill", does: "helper" },
    { tag: "7340e24e21d369a2", name: "fulfillFlashFill", does: "helper" },
    { tag: "9bc150795b93febb", name: "initiateDlmmFill", does: "helper" },
    { tag: "01e676fb2db165bb", name: "fulfillDlmmFill", does: "helper" },
  ],
});
