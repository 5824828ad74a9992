import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { AMOUNT, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { MODES, type NetworkId } from '#shared/domain/enumerations.ts'

/** Balance of an account at the end of a block, and its known transactions since. A fact about these two blocks; amounts may be negative. */
const CHECK = z.object({
  /** The block whose state was read. */
  height: z.number(),
  hash: z.string(),
  balanceBase: AMOUNT,
  /** Net flow of transactions in the blocks after it, up to and including `through`. */
  flowBase: AMOUNT,
  /** The same block, or a later one whose state could not be read. */
  through: z.object({ height: z.number(), hash: z.string() }),
})

/** What an account had at the end of a block when invoices were first read: nobody could have paid them before. */
const START = z.object({
  invoiceIds: z.array(z.string()),
  height: z.number(),
  hash: z.string(),
  /** The coin and the tokens, in the order of the network's assets, then the number of sent transactions; null where it was not read. */
  figures: z.array(AMOUNT.nullable()),
})

/** The coin_balances collection: one document per mode, network and account, read by `_id`. */
export const COIN_BALANCES = defineCollection(
  'coin_balances',
  {
    /** `<mode>:<network>:<match key>` */
    _id: z.string(),
    mode: z.enum(MODES),
    network: textAs<NetworkId>(),
    matchKey: z.string(),
    /** Empty where blocks passed without a balance and none before them is known; absent before the first block. */
    checks: z.array(CHECK).exactOptional(),
    /** The uninterrupted comparison of blocks that stored the last check; absent where that one was not compared. See `compared` of the cursor. */
    run: z.string().exactOptional(),
    /** Of the invoices that waited when the last one was added, the oldest first. */
    starts: z.array(START).exactOptional(),
    scanEpoch: z.number(),
    updatedAt: TIME,
  },
  [{ name: 'coin_balance_updated', key: { updatedAt: 1, _id: 1 } }],
)

/** The last checks of one account. */
export type CoinBalance = RecordOf<typeof COIN_BALANCES>
