import { type LitecoinNode, type LitecoinOutput, MWEB_HEIGHT } from '#dev/local-chain/litecoin-node.ts'
import { outputScript } from '#dev/local-chain/output-script.ts'
import { formatUnits } from '#shared/domain/money/money.ts'

const DECIMALS = 8
const CHANGE_COINS = 1

interface Coin {
  readonly txid: string
  readonly vout?: number
  readonly amount: number
  readonly address?: string
}

/**
 * Pays an ordinary output from Litecoin's confidential extension block (a peg-out), after moving coins into it when
 * there are too few; resolves with the id of the confidential transaction, which no block will contain. Mines
 * as many blocks as that takes.
 */
export async function pegOut(node: LitecoinNode, { to, amountBase }: LitecoinOutput): Promise<string> {
  await node.mineTo(MWEB_HEIGHT - 1)
  const amount = formatUnits(amountBase, DECIMALS)
  const inside = await node.rpc('getnewaddress', ['', 'mweb'])
  await node.rpc('sendtoaddress', [inside, Math.ceil(Number(amount)) + CHANGE_COINS])
  await node.mine(2)
  const { descriptor } = (await node.rpc('getdescriptorinfo', [`raw(${outputScript(to)})`])) as { descriptor: string }
  const [address] = (await node.rpc('deriveaddresses', [descriptor])) as readonly string[]
  // The wallet prefers ordinary coins: only confidential ones are available to choose from.
  const coins = (await node.rpc('listunspent', [0])) as readonly Coin[]
  const ordinary = coins.flatMap(({ txid, vout }) => (vout === undefined ? [] : [{ txid, vout }]))
  await node.rpc('lockunspent', [false, ordinary])
  try {
    return (await node.rpc('sendtoaddress', [address, amount])) as string
  } finally {
    await node.rpc('lockunspent', [true, ordinary])
  }
}
